# test: pass
# run: lambda_lift
# One that captures nothing, one that captures a value and a symbolic variable, one inside another, one that calls itself.

@I.ir_module
class Module:
    @R.function
    def main(x: R.Tensor(("n",), "float32"), c: R.Tensor((), "bool")) -> R.Tensor(("n",), "float32"):
        n = T.int64()
        @R.function
        def plain(a: R.Tensor(("m",), "float32")) -> R.Tensor(("m",), "float32"):
            m = T.int64()
            b = R.exp(a)
            return b
        @R.function
        def ones() -> R.Tensor(("n",), "float32"):
            o = R.ones(R.shape([n]), dtype="float32")
            return o
        @R.function
        def outer(a: R.Tensor(("k",), "float32")) -> R.Tensor(("k",), "float32"):
            k = T.int64()
            @R.function
            def add(b: R.Tensor(("k",), "float32")) -> R.Tensor(("k",), "float32"):
                d = R.add(a, b)
                return d
            e = add(a)
            return e
        @R.function
        def loop(a: R.Tensor(("n",), "float32"), go: R.Tensor((), "bool")) -> R.Tensor(("n",), "float32"):
            if go:
                p = R.add(a, x)
                q = loop(p, R.const(False, "bool"))
                r = q
            else:
                r = a
            return r
        f = plain(x)
        g = ones()
        h = outer(f)
        i = loop(h, c)
        j = R.add(g, i)
        return j
# expect:
# from tvm.script import ir as I
# from tvm.script import tir as T
# from tvm.script import relax as R

@I.ir_module
class Module:
    @R.function
    def main(x: R.Tensor(("n",), dtype="float32"), c: R.Tensor((), dtype="bool")) -> R.Tensor(("n",), dtype="float32"):
        n = T.int64()
        cls = Module
        ones: R.Object = R.make_closure(cls.main_ones, (R.shape([n]),))
        loop: R.Object = R.make_closure(cls.main_loop, (x,))
        f: R.Tensor((n,), dtype="float32") = cls.main_plain(x)
        g: R.Tensor((n,), dtype="float32") = R.invoke_pure_closure(ones, R.tuple(), sinfo_args=(R.Tensor((n,), dtype="float32"),))
        h: R.Tensor((n,), dtype="float32") = cls.main_outer(f)
        i: R.Tensor((n,), dtype="float32") = R.invoke_pure_closure(loop, (h, c), sinfo_args=(R.Tensor((n,), dtype="float32"),))
        j: R.Tensor((n,), dtype="float32") = R.add(g, i)
        return j

    @R.function(private=True)
    def main_add(b: R.Tensor(("k",), dtype="float32"), a: R.Tensor(("k",), dtype="float32")) -> R.Tensor(("k",), dtype="float32"):
        k = T.int64()
        d: R.Tensor((k,), dtype="float32") = R.add(a, b)
        return d

    @R.function(private=True)
    def main_loop(a: R.Tensor(("n",), dtype="float32"), go: R.Tensor((), dtype="bool"), x: R.Tensor(("n",), dtype="float32")) -> R.Tensor(("n",), dtype="float32"):
        n = T.int64()
        cls = Module
        if go:
            p: R.Tensor((n,), dtype="float32") = R.add(a, x)
            q: R.Tensor((n,), dtype="float32") = cls.main_loop(p, R.const(False, "bool"), x)
            r: R.Tensor((n,), dtype="float32") = q
        else:
            r: R.Tensor((n,), dtype="float32") = a
        return r

    @R.function(private=True)
    def main_ones(dims: R.Shape(["n"])) -> R.Tensor(("n",), dtype="float32"):
        n = T.int64()
        o: R.Tensor((n,), dtype="float32") = R.ones(R.shape([n]), dtype=R.dtype("float32"))
        return o

    @R.function(private=True)
    def main_outer(a: R.Tensor(("k",), dtype="float32")) -> R.Tensor(("k",), dtype="float32"):
        k = T.int64()
        cls = Module
        add: R.Object = R.make_closure(cls.main_add, (a,))
        e: R.Tensor((k,), dtype="float32") = R.invoke_pure_closure(add, (a,), sinfo_args=(R.Tensor((k,), dtype="float32"),))
        return e

    @R.function(private=True)
    def main_plain(a: R.Tensor(("m",), dtype="float32")) -> R.Tensor(("m",), dtype="float32"):
        m = T.int64()
        b: R.Tensor((m,), dtype="float32") = R.exp(a)
        return b
