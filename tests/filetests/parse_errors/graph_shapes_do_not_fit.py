# test: parse
@R.function
def main(x: R.Tensor((2, 3), "float32"), y: R.Tensor((3, 4), "float32")):
    lv0 = R.matmul(x, x)
    return lv0
# expect-error:
# error: R.matmul: the extents of the reduction must be equal, got 3 and 2
#   --> graph_shapes_do_not_fit.py:4:11
#   |
# 4 |     lv0 = R.matmul(x, x)
#   |           ^^^^^^^^^^^^^^
