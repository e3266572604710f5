# test: parse
@R.function
def main(x: R.Tensor((2, 3), "float32"), y: R.Tensor((3, 4), "float32")):
    with R.dataflow():
        lv0 = R.add(x, z)
        R.output(lv0)
    return lv0
# expect-error:
# error: undefined name `z`
#   --> graph_undefined_name.py:5:24
#   |
# 5 |         lv0 = R.add(x, z)
#   |                        ^ not defined here
