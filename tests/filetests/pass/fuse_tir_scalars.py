# test: pass
# run: fuse_tir
# Scalars among the arguments become arithmetic of the fused program.

@I.ir_module
class Module:
    @T.prim_func(private=True)
    def scaled(A: T.Buffer((4,), "float32"), k: T.int64, B: T.Buffer((4,), "float32")):
        for i in range(4):
            with T.block("scaled"):
                vi = T.axis.spatial(4, i)
                B[vi] = A[vi] * T.Cast("float32", k)

    @R.function(private=True)
    def fused(x: R.Tensor((4,), "float32"), s: R.Shape(["n"])) -> R.Tensor((4,), "float32"):
        R.func_attr({"Primitive": True})
        n = T.int64()
        cls = Module
        with R.dataflow():
            a = R.call_tir(cls.scaled, (x, R.prim_value(n)), R.Tensor((4,), "float32"))
            b = R.call_tir(cls.scaled, (a, R.prim_value(n + 1)), R.Tensor((4,), "float32"))
            R.output(b)
        return b

    @R.function
    def main(x: R.Tensor((4,), "float32"), y: R.Tensor(("n",), "float32")):
        n = T.int64()
        cls = Module
        with R.dataflow():
            a = cls.fused(x, R.shape([n]))
            R.output(a)
        return a
# expect:
# from tvm.script import ir as I
# from tvm.script import tir as T
# from tvm.script import relax as R

@I.ir_module
class Module:
    @T.prim_func(private=True)
    def fused(x: T.Buffer((4,), "float32"), b: T.Buffer((4,), "float32"), n: T.int64):
        T.func_attr({"tir.noalias": True})
        # with T.block("root"):
        B_intermediate = T.alloc_buffer((4,))
        for i in range(4):
            with T.block("scaled"):
                vi = T.axis.spatial(4, i)
                T.reads(x[vi])
                T.writes(B_intermediate[vi])
                B_intermediate[vi] = x[vi] * T.Cast("float32", n)
        for i in range(4):
            with T.block("scaled_1"):
                vi = T.axis.spatial(4, i)
                T.reads(B_intermediate[vi])
                T.writes(b[vi])
                b[vi] = B_intermediate[vi] * T.Cast("float32", n + T.int64(1))

    @R.function
    def main(x: R.Tensor((4,), dtype="float32"), y: R.Tensor(("n",), dtype="float32")) -> R.Tensor((4,), dtype="float32"):
        n = T.int64()
        cls = Module
        with R.dataflow():
            a = R.call_tir(cls.fused, (x,), out_sinfo=R.Tensor((4,), dtype="float32"), tir_vars=R.shape([n]))
            R.output(a)
        return a
