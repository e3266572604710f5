# test: pass
# run: lazy_get_input
# A weight is fetched where it is first needed: once for a dataflow block, again after it, before a branch that needs it. A private function
# stays.

@I.ir_module
class Module:
    @R.function
    def main(x: R.Tensor((4,), "float32"), c: R.Tensor((), "bool"), w: R.Tensor((4,), "float32"), v: R.Tensor((4,), "float32"), u: R.Tensor((4,), "float32")):
        R.func_attr({"num_input": 2})
        cls = Module
        with R.dataflow():
            a = R.add(x, w)
            b = R.multiply(a, w)
            R.output(b)
        d = R.add(b, w)
        if c:
            e = R.add(d, v)
            f = e
        else:
            g = cls.twice(v)
            f = g
        return (f, u, v)

    @R.function(private=True)
    def twice(x: R.Tensor((4,), "float32")) -> R.Tensor((4,), "float32"):
        y = R.add(x, x)
        return y

    @R.function
    def sizes(w: R.Tensor(("n",), "float32"), v: R.Tensor(("n",), "float32")):
        y = R.add(w, v)
        return y
# expect:
# from tvm.script import ir as I
# from tvm.script import tir as T
# from tvm.script import relax as R

@I.ir_module
class Module:
    @R.function
    def main(x: R.Tensor((4,), dtype="float32"), c: R.Tensor((), dtype="bool"), fget_param: R.Callable((R.Prim("int64"), R.Object), R.Object, True)) -> R.Tuple(R.Tensor((4,), dtype="float32"), R.Tensor((4,), dtype="float32"), R.Tensor((4,), dtype="float32")):
        R.func_attr({"num_input": 3})
        cls = Module
        with R.dataflow():
            w_untyped: R.Object = fget_param(R.prim_value(0), R.str("w"))
            w: R.Tensor((4,), dtype="float32") = R.match_cast(w_untyped, R.Tensor((4,), dtype="float32"))
            a: R.Tensor((4,), dtype="float32") = R.add(x, w)
            b: R.Tensor((4,), dtype="float32") = R.multiply(a, w)
            R.output(b)
        w_untyped_1: R.Object = fget_param(R.prim_value(0), R.str("w"))
        w_1: R.Tensor((4,), dtype="float32") = R.match_cast(w_untyped_1, R.Tensor((4,), dtype="float32"))
        d: R.Tensor((4,), dtype="float32") = R.add(b, w_1)
        v_untyped: R.Object = fget_param(R.prim_value(1), R.str("v"))
        v: R.Tensor((4,), dtype="float32") = R.match_cast(v_untyped, R.Tensor((4,), dtype="float32"))
        if c:
            e: R.Tensor((4,), dtype="float32") = R.add(d, v)
            f: R.Tensor((4,), dtype="float32") = e
        else:
            g: R.Tensor((4,), dtype="float32") = cls.twice(v)
            f: R.Tensor((4,), dtype="float32") = g
        u_untyped: R.Object = fget_param(R.prim_value(2), R.str("u"))
        u: R.Tensor((4,), dtype="float32") = R.match_cast(u_untyped, R.Tensor((4,), dtype="float32"))
        return (f, u, v)

    @R.function
    def sizes(fget_param: R.Callable((R.Prim("int64"), R.Object), R.Object, True)) -> R.Tensor(dtype="float32", ndim=1):
        n = T.int64()
        R.func_attr({"num_input": 1})
        w_untyped: R.Object = fget_param(R.prim_value(0), R.str("w"))
        w: R.Tensor((n,), dtype="float32") = R.match_cast(w_untyped, R.Tensor((n,), dtype="float32"))
        v_untyped: R.Object = fget_param(R.prim_value(1), R.str("v"))
        v: R.Tensor((n,), dtype="float32") = R.match_cast(v_untyped, R.Tensor((n,), dtype="float32"))
        y: R.Tensor((n,), dtype="float32") = R.add(w, v)
        return y

    @R.function(private=True)
    def twice(x: R.Tensor((4,), dtype="float32")) -> R.Tensor((4,), dtype="float32"):
        y: R.Tensor((4,), dtype="float32") = R.add(x, x)
        return y
