# test: pass
# run: eliminate_common_subexpr
# What is computed again is another name for what there is. Calls with side effects, memory, and checks that define variables are
# not the same; a value of a dataflow block is not known after it, one of a branch not in the other.

@I.ir_module
class Module:
    @R.function(pure=False)
    def main(x: R.Tensor((4,), "float32"), z: R.Tensor(ndim=1, dtype="float32"), c: R.Tensor((), "bool")) -> R.Tensor((4,), "float32"):
        m = T.int64()
        n = T.int64()
        with R.dataflow():
            a = R.exp(x)
            b = R.exp(x)
            d = R.add(a, b)
            e = R.add(b, b)
            R.output(d, e)
        f = R.exp(x)
        g = R.match_cast(z, R.Tensor((m,), "float32"))
        h = R.match_cast(z, R.Tensor((n,), "float32"))
        i = R.call_packed("print", f, sinfo_args=R.Tuple())
        j = R.call_packed("print", f, sinfo_args=R.Tuple())
        k = R.builtin.alloc_tensor(R.shape([4]), R.dtype("float32"), R.prim_value(0), R.str("global"))
        l = R.builtin.alloc_tensor(R.shape([4]), R.dtype("float32"), R.prim_value(0), R.str("global"))
        if c:
            p = R.exp(x)
            q = R.tanh(p)
            r = q
        else:
            s = R.tanh(f)
            r = s
        return r
# expect:
# from tvm.script import ir as I
# from tvm.script import tir as T
# from tvm.script import relax as R

@I.ir_module
class Module:
    @R.function(pure=False)
    def main(x: R.Tensor((4,), dtype="float32"), z: R.Tensor(dtype="float32", ndim=1), c: R.Tensor((), dtype="bool")) -> R.Tensor((4,), dtype="float32"):
        m = T.int64()
        n = T.int64()
        with R.dataflow():
            a: R.Tensor((4,), dtype="float32") = R.exp(x)
            b: R.Tensor((4,), dtype="float32") = a
            d: R.Tensor((4,), dtype="float32") = R.add(a, a)
            e: R.Tensor((4,), dtype="float32") = d
            R.output(d, e)
        f: R.Tensor((4,), dtype="float32") = R.exp(x)
        g: R.Tensor((m,), dtype="float32") = R.match_cast(z, R.Tensor((m,), dtype="float32"))
        h: R.Tensor((n,), dtype="float32") = R.match_cast(z, R.Tensor((n,), dtype="float32"))
        i: R.Tuple() = R.call_packed("print", f, sinfo_args=(R.Tuple(),))
        j: R.Tuple() = R.call_packed("print", f, sinfo_args=(R.Tuple(),))
        k: R.Tensor((4,), dtype="float32") = R.builtin.alloc_tensor(R.shape([4]), R.dtype("float32"), R.prim_value(0), R.str("global"))
        l: R.Tensor((4,), dtype="float32") = R.builtin.alloc_tensor(R.shape([4]), R.dtype("float32"), R.prim_value(0), R.str("global"))
        if c:
            p: R.Tensor((4,), dtype="float32") = f
            q: R.Tensor((4,), dtype="float32") = R.tanh(f)
            r: R.Tensor((4,), dtype="float32") = q
        else:
            s: R.Tensor((4,), dtype="float32") = R.tanh(f)
            r: R.Tensor((4,), dtype="float32") = s
        return r
