# test: parse
@R.function
def main(x: R.Tensor((2, 3), "float32"), y: R.Tensor((3, 4), "float32")):
    lv0 = R.call_tir(missing, (x,), R.Tensor((2, 3), "float32"))
    return lv0
# expect-error:
# error: undefined name `missing`
#   --> graph_unknown_callee.py:4:22
#   |
# 4 |     lv0 = R.call_tir(missing, (x,), R.Tensor((2, 3), "float32"))
#   |                      ^^^^^^^ not defined here
