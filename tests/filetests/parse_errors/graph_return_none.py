# test: parse
@I.ir_module
class Module:
    @R.function
    def main(x: R.Tensor((4,), "float32")):
        y = R.add(x, x)
        return None
# expect-error:
# error: expected a graph value, found `None`
#   --> graph_return_none.py:7:16
#   |
# 7 |         return None
#   |                ^^^^
