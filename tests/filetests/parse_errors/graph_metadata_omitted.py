# test: parse
@R.function
def main(x: R.Tensor((2, 3), "float32"), y: R.Tensor((3, 4), "float32")):
    lv0 = R.add(x, metadata["relax.expr.Constant"][0])
    return lv0
# expect-error:
# error: `metadata` cannot be used here
#   --> graph_metadata_omitted.py:4:20
#   |
# 4 |     lv0 = R.add(x, metadata["relax.expr.Constant"][0])
#   |                    ^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^
#   |
#   = the text does not hold the constants: print the module with show_meta
