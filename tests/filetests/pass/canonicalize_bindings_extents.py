# test: pass
# run: canonicalize_bindings
# A check that says nothing new goes, and so do the variables that it defines. A check of variables that are defined before it stays. What a function inside gives is said without them, too.

@I.ir_module
class Module:
    @R.function
    def main(x: R.Tensor(("n", 8), "float32"), y: R.Tensor(("k",), "float32"), z: R.Tensor(ndim=1, dtype="float32")):
        n = T.int64()
        k = T.int64()
        m = T.int64()
        o = T.int64()
        p = T.int64()
        a = R.match_cast(x, R.Tensor((m, o), "float32"))
        b = R.add(a, x)
        c = R.match_cast(y, R.Tensor((n,), "float32"))
        d = R.match_cast(z, R.Tensor((p,), "float32"))
        e = R.add(c, y)
        @R.function
        def inner(w: R.Tensor(("q",), "float32")) -> R.Tensor((m, o), "float32"):
            q = T.int64()
            u = R.exp(a)
            return u
        f = inner(y)
        return (b, d, e, f)
# expect:
# from tvm.script import ir as I
# from tvm.script import tir as T
# from tvm.script import relax as R

@I.ir_module
class Module:
    @R.function
    def main(x: R.Tensor(("n", 8), dtype="float32"), y: R.Tensor(("k",), dtype="float32"), z: R.Tensor(dtype="float32", ndim=1)) -> R.Tuple(R.Tensor(dtype="float32", ndim=2), R.Tensor(dtype="float32", ndim=1), R.Tensor(("n",), dtype="float32"), R.Tensor(dtype="float32", ndim=2)):
        k = T.int64()
        n = T.int64()
        p = T.int64()
        q = T.int64()
        b: R.Tensor((n, 8), dtype="float32") = R.add(x, x)
        c: R.Tensor((n,), dtype="float32") = R.match_cast(y, R.Tensor((n,), dtype="float32"))
        d: R.Tensor((p,), dtype="float32") = R.match_cast(z, R.Tensor((p,), dtype="float32"))
        e: R.Tensor((k,), dtype="float32") = R.add(c, y)
        @R.function
        def inner(w: R.Tensor(("q",), dtype="float32")) -> R.Tensor(("n", 8), dtype="float32"):
            u: R.Tensor((n, 8), dtype="float32") = R.exp(x)
            return u
        f: R.Tensor((n, 8), dtype="float32") = inner(y)
        return (b, d, e, f)
