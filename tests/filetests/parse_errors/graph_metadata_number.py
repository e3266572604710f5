# test: parse
@R.function
def main(x: R.Tensor((2, 3), "float32"), y: R.Tensor((3, 4), "float32")):
    lv0 = R.add(x, metadata["relax.expr.Constant"][65536])
    return lv0
# expect-error:
# error: the number 65536 is out of range: of constants left out there are at most 65536
#   --> graph_metadata_number.py:4:52
#   |
# 4 |     lv0 = R.add(x, metadata["relax.expr.Constant"][65536])
#   |                                                    ^^^^^
