# test: parse
@I.ir_module
class Module:
    @R.function
    def main(x: R.Tensor((2,), "float32")):
        cls = Module
        lv0 = R.call_tir(cls.relu, (x,), out_sinfo=R.Tensor((2,), "float32"))
        return lv0
# expect-error:
# error: expected a function of the module, or a text, found `cls.relu`
#   --> graph_module_unknown_function.py:7:26
#   |
# 7 |         lv0 = R.call_tir(cls.relu, (x,), out_sinfo=R.Tensor((2,), "float32"))
#   |                          ^^^^^^^^
