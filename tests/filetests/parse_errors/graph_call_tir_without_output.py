# test: parse
@R.function
def main(x: R.Tensor((2, 3), "float32"), y: R.Tensor((3, 4), "float32")):
    lv0 = R.call_tir("f", (x,))
    return lv0
# expect-error:
# error: `R.call_tir` needs the argument `out_sinfo`
#   --> graph_call_tir_without_output.py:4:11
#   |
# 4 |     lv0 = R.call_tir("f", (x,))
#   |           ^^^^^^^^^^^^^^^^^^^^^
