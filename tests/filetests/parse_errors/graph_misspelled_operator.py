# test: parse
@I.ir_module
class Module:
    @R.function
    def main(x: R.Tensor((4,), "float32")):
        y = R.call_tri("f", (x,), R.Tensor((4,), "float32"))
        z = R.nn.relv(x)
        u = R.unknown_to_all(x)
        v = R.sinh(x)
        t = R.Tensor((4,), "float32")
        return z
# expect-error:
# error: unknown function `R.call_tri`
#   --> graph_misspelled_operator.py:6:13
#   |
# 6 |         y = R.call_tri("f", (x,), R.Tensor((4,), "float32"))
#   |             ^^^^^^^^^^
#   |
#   = did you mean `R.call_tir`?
#
# error: unknown function `R.nn.relv`
#   --> graph_misspelled_operator.py:7:13
#   |
# 7 |         z = R.nn.relv(x)
#   |             ^^^^^^^^^
#   |
#   = did you mean `R.nn.relu`?
#
# error: unknown function `R.unknown_to_all`
#   --> graph_misspelled_operator.py:8:13
#   |
# 8 |         u = R.unknown_to_all(x)
#   |             ^^^^^^^^^^^^^^^^
#
# error: expected a value, not a type, found `R.Tensor((4,), "float32")`
#    --> graph_misspelled_operator.py:10:13
#    |
# 10 |         t = R.Tensor((4,), "float32")
#    |             ^^^^^^^^^^^^^^^^^^^^^^^^^
