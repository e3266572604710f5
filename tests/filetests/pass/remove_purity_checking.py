# test: pass
# run: remove_purity_checking
# Pure functions are marked, and calls that only say that they are pure do not say it any more.

@I.ir_module
class Module:
    @R.function
    def main(x: R.Tensor((4,), "float32")) -> R.Tensor((4,), "float32"):
        y = R.call_pure_packed("f", x, sinfo_args=R.Tensor((4,), "float32"))
        @R.function
        def inner(z: R.Tensor((4,), "float32")) -> R.Tensor((4,), "float32"):
            a = R.call_pure_packed("g", z, sinfo_args=R.Tensor((4,), "float32"))
            return a
        b = inner(y)
        return b

    @R.function(pure=False)
    def effects(x: R.Tensor((4,), "float32")) -> R.Tensor((4,), "float32"):
        y = R.call_packed("print", x, sinfo_args=R.Tuple())
        return x
# expect:
# from tvm.script import ir as I
# from tvm.script import relax as R

@I.ir_module
class Module:
    @R.function(pure=False)
    def effects(x: R.Tensor((4,), dtype="float32")) -> R.Tensor((4,), dtype="float32"):
        y: R.Tuple() = R.call_packed("print", x, sinfo_args=(R.Tuple(),))
        return x

    @R.function
    def main(x: R.Tensor((4,), dtype="float32")) -> R.Tensor((4,), dtype="float32"):
        R.func_attr({"relax.force_pure": True})
        y: R.Tensor((4,), dtype="float32") = R.call_packed("f", x, sinfo_args=(R.Tensor((4,), dtype="float32"),))
        @R.function
        def inner(z: R.Tensor((4,), dtype="float32")) -> R.Tensor((4,), dtype="float32"):
            R.func_attr({"relax.force_pure": True})
            a: R.Tensor((4,), dtype="float32") = R.call_packed("g", z, sinfo_args=(R.Tensor((4,), dtype="float32"),))
            return a
        b: R.Tensor((4,), dtype="float32") = inner(y)
        return b
