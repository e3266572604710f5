# test: pass
# run: dead_code_elimination
# Unused values go, in branches and in functions inside too; calls with side effects, and checks, stay.

@I.ir_module
class Module:
    @R.function(pure=False)
    def main(x: R.Tensor(("n",), "float32"), c: R.Tensor((), "bool")) -> R.Tensor(("n",), "float32"):
        n = T.int64()
        with R.dataflow():
            a = R.exp(x)
            b = R.tanh(a)
            d = R.tanh(b)
            R.output(a, b, d)
        @R.function
        def inner(y: R.Tensor(("m",), "float32")) -> R.Tensor(("m",), "float32"):
            m = T.int64()
            p = R.exp(y)
            q = R.add(p, p)
            return p
        @R.function
        def unused(y: R.Tensor(("m",), "float32")) -> R.Tensor(("m",), "float32"):
            m = T.int64()
            p = R.exp(y)
            return p
        e = R.call_packed("print", x, sinfo_args=R.Tuple())
        f = R.match_cast(x, R.Tensor(("n",), "float32"))
        if c:
            g = R.exp(x)
            h = R.call_packed("print", x, sinfo_args=R.Tuple())
            r = R.exp(b)
        else:
            s = R.exp(x)
            r = s
        if c:
            t = R.exp(x)
            u = t
        else:
            u = x
        v = inner(r)
        return v
# expect:
# from tvm.script import ir as I
# from tvm.script import tir as T
# from tvm.script import relax as R

@I.ir_module
class Module:
    @R.function(pure=False)
    def main(x: R.Tensor(("n",), dtype="float32"), c: R.Tensor((), dtype="bool")) -> R.Tensor(("n",), dtype="float32"):
        m = T.int64()
        n = T.int64()
        with R.dataflow():
            a: R.Tensor((n,), dtype="float32") = R.exp(x)
            b: R.Tensor((n,), dtype="float32") = R.tanh(a)
            R.output(a, b)
        @R.function
        def inner(y: R.Tensor(("m",), dtype="float32")) -> R.Tensor(("m",), dtype="float32"):
            p: R.Tensor((m,), dtype="float32") = R.exp(y)
            return p
        e: R.Tuple() = R.call_packed("print", x, sinfo_args=(R.Tuple(),))
        f: R.Tensor((n,), dtype="float32") = R.match_cast(x, R.Tensor((n,), dtype="float32"))
        if c:
            h: R.Tuple() = R.call_packed("print", x, sinfo_args=(R.Tuple(),))
            r_then: R.Tensor((n,), dtype="float32") = R.exp(b)
            r: R.Tensor((n,), dtype="float32") = r_then
        else:
            s: R.Tensor((n,), dtype="float32") = R.exp(x)
            r: R.Tensor((n,), dtype="float32") = s
        v: R.Tensor((n,), dtype="float32") = inner(r)
        return v
