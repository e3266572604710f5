# test: parse
@R.function
def main(x: R.Tensor((4,), "float32"), x: R.Tensor((4,), "float32")):
    return x
# expect-error:
# error: `x` is defined twice
#   --> graph_duplicate_parameter.py:3:40
#   |
# 3 | def main(x: R.Tensor((4,), "float32"), x: R.Tensor((4,), "float32")):
#   |                                        ^
