# test: pass
# run: remove_unused_outputs, remove_unused_parameters
# A result and a parameter that nobody uses go; the symbolic variable that the parameter defines is passed alone. A parameter that the
# call checks stays. So does the size that another parameter declares, alone.

@I.ir_module
class Module:
    @R.function(private=True)
    def f(x: R.Tensor((4,), "float32"), w: R.Tensor(("n",), "float32")):
        n = T.int64()
        a = R.exp(x)
        b = R.zeros(R.shape([n]), dtype="float32")
        return (a, b)

    @R.function(private=True)
    def g(x: R.Tensor((4,), "float32"), w: R.Tensor((8,), "float32")) -> R.Tensor((4,), "float32"):
        a = R.exp(x)
        return a

    @R.function(private=True)
    def h(x: R.Tensor(("m * 2",), "float32"), size: R.Shape(["m"])):
        m = T.int64()
        a = R.exp(x)
        return a

    @R.function
    def main(x: R.Tensor((4,), "float32"), w: R.Tensor(("k",), "float32"), u: R.Tensor(ndim=1, dtype="float32")):
        k = T.int64()
        t = Module.f(x, w)
        b = t[1]
        c = Module.g(x, u)
        d = Module.h(x, R.shape([2]))
        return (b, c, d)
# expect:
# from tvm.script import ir as I
# from tvm.script import tir as T
# from tvm.script import relax as R

@I.ir_module
class Module:
    @R.function(private=True)
    def f(param_n: R.Shape(["n"])) -> R.Tensor(("n",), dtype="float32"):
        n = T.int64()
        b: R.Tensor((n,), dtype="float32") = R.zeros(R.shape([n]), dtype=R.dtype("float32"))
        return b

    @R.function(private=True)
    def g(x: R.Tensor((4,), dtype="float32"), w: R.Tensor((8,), dtype="float32")) -> R.Tensor((4,), dtype="float32"):
        a: R.Tensor((4,), dtype="float32") = R.exp(x)
        return a

    @R.function(private=True)
    def h(x: R.Tensor(("m * 2",), dtype="float32"), param_m: R.Shape(["m"])) -> R.Tensor(("m * 2",), dtype="float32"):
        m = T.int64()
        a: R.Tensor((m * 2,), dtype="float32") = R.exp(x)
        return a

    @R.function
    def main(x: R.Tensor((4,), dtype="float32"), w: R.Tensor(("k",), dtype="float32"), u: R.Tensor(dtype="float32", ndim=1)) -> R.Tuple(R.Tensor(("k",), dtype="float32"), R.Tensor((4,), dtype="float32"), R.Tensor(("T.Mul(T.int64(2), T.int64(2))",), dtype="float32")):
        k = T.int64()
        cls = Module
        gv: R.Tensor((k,), dtype="float32") = cls.f(R.shape([k]))
        c: R.Tensor((4,), dtype="float32") = cls.g(x, u)
        d: R.Tensor((T.Mul(T.int64(2), T.int64(2)),), dtype="float32") = cls.h(x, R.shape([2]))
        return (gv, c, d)
