# test: parse
@I.ir_module
class M:
    @R.function
    def main(x: R.Tensor((4, -1), "float32")):
        return x
# expect-error:
# error: expected an extent that is not negative, found `-1`
#   --> graph_negative_extent.py:5:30
#   |
# 5 |     def main(x: R.Tensor((4, -1), "float32")):
#   |                              ^^
