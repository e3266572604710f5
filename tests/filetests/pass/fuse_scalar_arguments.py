# test: pass
# run: annotate_tir_op_pattern, fuse_ops, fuse_tir
# Calls whose arguments are scalars and tensors are fused; the scalars are those of the program.

@I.ir_module
class Module:
    @T.prim_func(private=True)
    def shifted(a: T.Buffer((4,), "float32"), k: T.int64, b: T.Buffer((4,), "float32")):
        for i in range(4):
            with T.block("shifted"):
                vi = T.axis.spatial(4, i)
                b[vi] = a[vi] + T.Cast("float32", k)

    @R.function
    def main(x: R.Tensor((4,), "float32"), y: R.Tensor(("n",), "float32")) -> R.Tensor((4,), "float32"):
        n = T.int64()
        cls = Module
        with R.dataflow():
            a = R.call_tir(cls.shifted, (x, R.prim_value(n)), R.Tensor((4,), "float32"))
            b = R.call_tir(cls.shifted, (a, R.prim_value(n + 1)), R.Tensor((4,), "float32"))
            R.output(b)
        return b
# expect:
# from tvm.script import ir as I
# from tvm.script import tir as T
# from tvm.script import relax as R

@I.ir_module
class Module:
    @T.prim_func(private=True)
    def fused_shifted_shifted(x: T.Buffer((4,), "float32"), b: T.Buffer((4,), "float32"), n: T.int64):
        T.func_attr({"tir.noalias": True})
        # with T.block("root"):
        b_intermediate = T.alloc_buffer((4,))
        for i in range(4):
            with T.block("shifted"):
                vi = T.axis.spatial(4, i)
                T.reads(x[vi])
                T.writes(b_intermediate[vi])
                b_intermediate[vi] = x[vi] + T.Cast("float32", n)
        for i in range(4):
            with T.block("shifted_1"):
                vi = T.axis.spatial(4, i)
                T.reads(b_intermediate[vi])
                T.writes(b[vi])
                b[vi] = b_intermediate[vi] + T.Cast("float32", n + T.int64(1))

    @R.function
    def main(x: R.Tensor((4,), dtype="float32"), y: R.Tensor(("n",), dtype="float32")) -> R.Tensor((4,), dtype="float32"):
        n = T.int64()
        cls = Module
        with R.dataflow():
            b = R.call_tir(cls.fused_shifted_shifted, (x,), out_sinfo=R.Tensor((4,), dtype="float32"), tir_vars=R.shape([n]))
            R.output(b)
        return b
