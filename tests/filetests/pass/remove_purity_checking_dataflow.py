# test: pass
# run: remove_purity_checking
# Calls in a dataflow block stay pure: such a block has no others.

@I.ir_module
class Module:
    @R.function
    def main(x: R.Tensor((4,), "float32")) -> R.Tensor((4,), "float32"):
        with R.dataflow():
            a = R.exp(x)
            R.output(a)
        b = R.call_pure_packed("vm.builtin.copy", a, sinfo_args=R.Tensor((4,), "float32"))
        with R.dataflow():
            c = R.call_pure_packed("vm.builtin.copy", b, sinfo_args=R.Tensor((4,), "float32"))
            R.output(c)
        return c
# expect:
# from tvm.script import ir as I
# from tvm.script import relax as R

@I.ir_module
class Module:
    @R.function
    def main(x: R.Tensor((4,), dtype="float32")) -> R.Tensor((4,), dtype="float32"):
        R.func_attr({"relax.force_pure": True})
        with R.dataflow():
            a: R.Tensor((4,), dtype="float32") = R.exp(x)
            R.output(a)
        b: R.Tensor((4,), dtype="float32") = R.call_packed("vm.builtin.copy", a, sinfo_args=(R.Tensor((4,), dtype="float32"),))
        with R.dataflow():
            c: R.Tensor((4,), dtype="float32") = R.call_pure_packed("vm.builtin.copy", b, sinfo_args=(R.Tensor((4,), dtype="float32"),))
            R.output(c)
        return c
