# test: parse
@R.function
def main(x: R.Tensor((2, 3), "float32"), y: R.Tensor((3, 4), "float32")):
    lv0 = R.matmul(x)
    return lv0
# expect-error:
# error: R.matmul takes 2 arguments, got 1
#   --> graph_missing_argument.py:4:11
#   |
# 4 |     lv0 = R.matmul(x)
#   |           ^^^^^^^^^^^
