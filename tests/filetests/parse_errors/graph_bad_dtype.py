# test: parse
@R.function
def main(x: R.Tensor((2, 3), "float23")):
    return x
# expect-error:
# error: unknown dtype `float23`
#   --> graph_bad_dtype.py:3:30
#   |
# 3 | def main(x: R.Tensor((2, 3), "float23")):
#   |                              ^^^^^^^^^
#   |
#   = dtypes are written as `float32`, `int8`, `bool` or `float16x4`
