# test: pass
# run: inline_private_functions
# Calls become bindings: in a dataflow block, in a branch, in a function inside, and one within another. What the call checks stays
# a check. A function that calls itself, and one that is used as a value, stay.

@I.ir_module
class Module:
    @R.function(private=True)
    def twice(x: R.Tensor(("n",), "float32")) -> R.Tensor(("n",), "float32"):
        n = T.int64()
        with R.dataflow():
            y = R.add(x, x)
            R.output(y)
        return y

    @R.function(private=True)
    def four(x: R.Tensor(("n",), "float32")) -> R.Tensor(("n",), "float32"):
        n = T.int64()
        y = Module.twice(x)
        z = Module.twice(y)
        return z

    @R.function(private=True)
    def pick(x: R.Tensor((4,), "float32"), c: R.Tensor((), "bool")) -> R.Tensor((4,), "float32"):
        if c:
            y = R.exp(x)
            r = y
        else:
            r = x
        return r

    @R.function(private=True)
    def loop(x: R.Tensor((4,), "float32")) -> R.Tensor((4,), "float32"):
        y = Module.loop(x)
        return y

    @R.function
    def main(x: R.Tensor((4,), "float32"), u: R.Tensor(ndim=1, dtype="float32"), c: R.Tensor((), "bool")):
        with R.dataflow():
            a = R.exp(x)
            b = Module.four(a)
            d = R.tanh(b)
            R.output(d)
        e = Module.pick(d, c)
        f = Module.twice(u)
        @R.function
        def inner(y: R.Tensor((4,), "float32")) -> R.Tensor((4,), "float32"):
            g = Module.twice(y)
            return g
        h = inner(e)
        i = Module.loop(h)
        return (f, i)
# expect:
# from tvm.script import ir as I
# from tvm.script import tir as T
# from tvm.script import relax as R

@I.ir_module
class Module:
    @R.function(private=True)
    def loop(x: R.Tensor((4,), dtype="float32")) -> R.Tensor((4,), dtype="float32"):
        cls = Module
        y: R.Tensor((4,), dtype="float32") = cls.loop(x)
        return y

    @R.function
    def main(x: R.Tensor((4,), dtype="float32"), u: R.Tensor(dtype="float32", ndim=1), c: R.Tensor((), dtype="bool")) -> R.Tuple(R.Tensor(dtype="float32", ndim=1), R.Tensor((4,), dtype="float32")):
        n = T.int64()
        cls = Module
        with R.dataflow():
            x_1: R.Tensor((4,), dtype="float32") = R.exp(x)
            y: R.Tensor((4,), dtype="float32") = R.add(x_1, x_1)
            y_1: R.Tensor((4,), dtype="float32") = R.add(y, y)
            d: R.Tensor((4,), dtype="float32") = R.tanh(y_1)
            R.output(x_1, y, y_1, d)
        if c:
            y_2: R.Tensor((4,), dtype="float32") = R.exp(d)
            r: R.Tensor((4,), dtype="float32") = y_2
        else:
            r: R.Tensor((4,), dtype="float32") = d
        x_2: R.Tensor((n,), dtype="float32") = R.match_cast(u, R.Tensor((n,), dtype="float32"))
        with R.dataflow():
            y_3: R.Tensor((n,), dtype="float32") = R.add(x_2, x_2)
            R.output(y_3)
        @R.function
        def inner(y_4: R.Tensor((4,), dtype="float32")) -> R.Tensor((4,), dtype="float32"):
            with R.dataflow():
                y_5: R.Tensor((4,), dtype="float32") = R.add(y_4, y_4)
                R.output(y_5)
            return y_5
        h: R.Tensor((4,), dtype="float32") = inner(r)
        i: R.Tensor((4,), dtype="float32") = cls.loop(h)
        return (y_3, i)
