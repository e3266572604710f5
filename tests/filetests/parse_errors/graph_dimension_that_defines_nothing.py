# test: parse
@I.ir_module
class Module:
    @R.function
    def main(x: R.Tensor(("h + 2", 4), "float32")):
        h = T.int64()
        y = R.call_dps_packed("f", (x,), R.Tensor((h, 4), "float32"))
        return y
# expect-error:
# error: symbolic variable h is not defined by a parameter or match_cast before
#   --> graph_dimension_that_defines_nothing.py:5:14
#   |
# 5 |     def main(x: R.Tensor(("h + 2", 4), "float32")):
#   |              ^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^
#   |
#   = an extent defines a variable only where it is nothing else, as in `R.Tensor(("h",), "float32")`
