# test: pass
# run: fuse_tir
# Nothing says that `x` has as many elements as `y`: calls of their own check it, so the function stays.

@I.ir_module
class Module:
    @T.prim_func(private=True)
    def add(x: T.handle, y: T.handle, z: T.handle):
        n = T.int64()
        X = T.match_buffer(x, (n,), "float32")
        Y = T.match_buffer(y, (n,), "float32")
        Z = T.match_buffer(z, (n,), "float32")
        for i in range(n):
            with T.block("add"):
                vi = T.axis.spatial(n, i)
                Z[vi] = X[vi] + Y[vi]

    @R.function(private=True)
    def fused_add_add(x: R.Tensor(("a",), "float32"), y: R.Tensor(("b",), "float32")) -> R.Tensor(("a",), "float32"):
        R.func_attr({"Primitive": True})
        cls = Module
        a = T.int64()
        b = T.int64()
        with R.dataflow():
            one = R.call_tir(cls.add, (x, y), out_ty=R.Tensor((a,), "float32"))
            two = R.call_tir(cls.add, (one, one), out_ty=R.Tensor((a,), "float32"))
            R.output(two)
        return two

    @R.function
    def main(x: R.Tensor(("a",), "float32"), y: R.Tensor(("b",), "float32")) -> R.Tensor(("a",), "float32"):
        cls = Module
        a = T.int64()
        b = T.int64()
        with R.dataflow():
            out: R.Tensor((a,), "float32") = cls.fused_add_add(x, y)
            R.output(out)
        return out
# expect:
# from tvm.script import ir as I
# from tvm.script import tir as T
# from tvm.script import relax as R

@I.ir_module
class Module:
    @T.prim_func(private=True)
    def add(x: T.handle, y: T.handle, z: T.handle):
        n = T.int64()
        X = T.match_buffer(x, (n,))
        Y = T.match_buffer(y, (n,))
        Z = T.match_buffer(z, (n,))
        # with T.block("root"):
        for i in range(n):
            with T.block("add"):
                vi = T.axis.spatial(n, i)
                T.reads(X[vi], Y[vi])
                T.writes(Z[vi])
                Z[vi] = X[vi] + Y[vi]

    @R.function(private=True)
    def fused_add_add(x: R.Tensor(("a",), dtype="float32"), y: R.Tensor(("b",), dtype="float32")) -> R.Tensor(("a",), dtype="float32"):
        a = T.int64()
        b = T.int64()
        R.func_attr({"Primitive": True})
        cls = Module
        with R.dataflow():
            one = R.call_tir(cls.add, (x, y), out_sinfo=R.Tensor((a,), dtype="float32"))
            two = R.call_tir(cls.add, (one, one), out_sinfo=R.Tensor((a,), dtype="float32"))
            R.output(two)
        return two

    @R.function
    def main(x: R.Tensor(("a",), dtype="float32"), y: R.Tensor(("b",), dtype="float32")) -> R.Tensor(("a",), dtype="float32"):
        a = T.int64()
        b = T.int64()
        cls = Module
        with R.dataflow():
            out: R.Tensor((a,), dtype="float32") = cls.fused_add_add(x, y)
            R.output(out)
        return out
