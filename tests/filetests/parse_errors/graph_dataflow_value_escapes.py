# test: parse
@R.function
def main(x: R.Tensor((2, 3), "float32"), y: R.Tensor((3, 4), "float32")):
    with R.dataflow():
        lv0 = R.add(x, x)
        lv1 = R.add(lv0, x)
        R.output(lv1)
    return lv0
# expect-error:
# error: uses lv0 outside its dataflow block, which does not output it
#   --> graph_dataflow_value_escapes.py:3:5
#   |
# 3 | def main(x: R.Tensor((2, 3), "float32"), y: R.Tensor((3, 4), "float32")):
#   |     ^^^^
