# test: pass
# run: lambda_lift, inline_private_functions
# `main_g` is used by `main_f` alone, which is used as a value: both stay.

@I.ir_module
class Module:
    @R.function
    def main(x: R.Tensor((2,), "float32"), y: R.Tensor((2,), "float32")) -> R.Tensor((2,), "float32"):
        @R.function
        def f(a: R.Tensor((2,), "float32")) -> R.Tensor((2,), "float32"):
            @R.function
            def g(b: R.Tensor((2,), "float32")) -> R.Tensor((2,), "float32"):
                s: R.Tensor((2,), "float32") = R.add(b, y)
                return s
            u: R.Tensor((2,), "float32") = g(a)
            return u
        r: R.Tensor((2,), "float32") = f(x)
        return r
# expect:
# from tvm.script import ir as I
# from tvm.script import relax as R

@I.ir_module
class Module:
    @R.function
    def main(x: R.Tensor((2,), dtype="float32"), y: R.Tensor((2,), dtype="float32")) -> R.Tensor((2,), dtype="float32"):
        cls = Module
        f: R.Object = R.make_closure(cls.main_f, (y,))
        r: R.Tensor((2,), dtype="float32") = R.invoke_pure_closure(f, (x,), sinfo_args=(R.Tensor((2,), dtype="float32"),))
        return r

    @R.function(private=True)
    def main_f(a: R.Tensor((2,), dtype="float32"), y: R.Tensor((2,), dtype="float32")) -> R.Tensor((2,), dtype="float32"):
        cls = Module
        g: R.Object = R.make_closure(cls.main_g, (y,))
        u: R.Tensor((2,), dtype="float32") = R.invoke_pure_closure(g, (a,), sinfo_args=(R.Tensor((2,), dtype="float32"),))
        return u

    @R.function(private=True)
    def main_g(b: R.Tensor((2,), dtype="float32"), y: R.Tensor((2,), dtype="float32")) -> R.Tensor((2,), dtype="float32"):
        s: R.Tensor((2,), dtype="float32") = R.add(b, y)
        return s
