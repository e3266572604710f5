# test: pass
# run: merge_composite_functions
# The calls for `lib` before and after the one for `other` stay apart: the second needs its result. A call for `lib` that does not
# is joined with the first. A composite function that is called twice is held once.

@I.ir_module
class Module:
    @R.function
    def main(x: R.Tensor((4,), "float32")):
        cls = Module
        with R.dataflow():
            a = cls.fused_relax_exp(x)
            b = cls.fused_relax_exp(a)
            c = cls.fused_relax_negative(b)
            d = cls.fused_relax_add(b, c)
            e = R.tanh(d)
            R.output(e)
        return e

    @R.function(private=True)
    def fused_relax_exp(x: R.Tensor((4,), "float32")) -> R.Tensor((4,), "float32"):
        R.func_attr({"Composite": "lib.exp", "Primitive": True})
        with R.dataflow():
            y = R.exp(x)
            R.output(y)
        return y

    @R.function(private=True)
    def fused_relax_negative(x: R.Tensor((4,), "float32")) -> R.Tensor((4,), "float32"):
        R.func_attr({"Composite": "other.negative", "Primitive": True})
        with R.dataflow():
            y = R.negative(x)
            R.output(y)
        return y

    @R.function(private=True)
    def fused_relax_add(x: R.Tensor((4,), "float32"), y: R.Tensor((4,), "float32")) -> R.Tensor((4,), "float32"):
        R.func_attr({"Composite": "lib.add", "Primitive": True})
        with R.dataflow():
            z = R.add(x, y)
            R.output(z)
        return z
# expect:
# from tvm.script import ir as I
# from tvm.script import relax as R

@I.ir_module
class Module:
    @R.function
    def fused_relax_add1_lib(b: R.Tensor((4,), dtype="float32"), c: R.Tensor((4,), dtype="float32")) -> R.Tensor((4,), dtype="float32"):
        R.func_attr({"Codegen": "lib"})
        @R.function
        def local_func(x: R.Tensor((4,), dtype="float32"), y: R.Tensor((4,), dtype="float32")) -> R.Tensor((4,), dtype="float32"):
            R.func_attr({"Composite": "lib.add"})
            with R.dataflow():
                z: R.Tensor((4,), dtype="float32") = R.add(x, y)
                R.output(z)
            return z
        d: R.Tensor((4,), dtype="float32") = local_func(b, c)
        return d

    @R.function
    def fused_relax_exp_relax_exp_lib(x: R.Tensor((4,), dtype="float32")) -> R.Tensor((4,), dtype="float32"):
        R.func_attr({"Codegen": "lib"})
        @R.function
        def local_func(x_1: R.Tensor((4,), dtype="float32")) -> R.Tensor((4,), dtype="float32"):
            R.func_attr({"Composite": "lib.exp"})
            with R.dataflow():
                y: R.Tensor((4,), dtype="float32") = R.exp(x_1)
                R.output(y)
            return y
        a: R.Tensor((4,), dtype="float32") = local_func(x)
        b: R.Tensor((4,), dtype="float32") = local_func(a)
        return b

    @R.function
    def fused_relax_negative1_other(b: R.Tensor((4,), dtype="float32")) -> R.Tensor((4,), dtype="float32"):
        R.func_attr({"Codegen": "other"})
        @R.function
        def local_func(x: R.Tensor((4,), dtype="float32")) -> R.Tensor((4,), dtype="float32"):
            R.func_attr({"Composite": "other.negative"})
            with R.dataflow():
                y: R.Tensor((4,), dtype="float32") = R.negative(x)
                R.output(y)
            return y
        c: R.Tensor((4,), dtype="float32") = local_func(b)
        return c

    @R.function
    def main(x: R.Tensor((4,), dtype="float32")) -> R.Tensor((4,), dtype="float32"):
        cls = Module
        with R.dataflow():
            b: R.Tensor((4,), dtype="float32") = cls.fused_relax_exp_relax_exp_lib(x)
            c: R.Tensor((4,), dtype="float32") = cls.fused_relax_negative1_other(b)
            d: R.Tensor((4,), dtype="float32") = cls.fused_relax_add1_lib(b, c)
            e: R.Tensor((4,), dtype="float32") = R.tanh(d)
            R.output(e)
        return e
