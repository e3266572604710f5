# test: pass
# run: annotate_tir_op_pattern, fuse_ops, fuse_tir
# A call that overwrites what was computed for it alone joins others: its memory is that of the operand.

@I.ir_module
class Module:
    @T.prim_func(private=True)
    def add(A: T.Buffer((4, 8), "float32"), B: T.Buffer((4, 8), "float32"), C: T.Buffer((4, 8), "float32")):
        for i, j in T.grid(4, 8):
            with T.block("add"):
                vi, vj = T.axis.remap("SS", [i, j])
                C[vi, vj] = A[vi, vj] + B[vi, vj]

    @T.prim_func(private=True)
    def exp_inplace(A: T.Buffer((4, 8), "float32")):
        for i, j in T.grid(4, 8):
            with T.block("exp"):
                vi, vj = T.axis.remap("SS", [i, j])
                A[vi, vj] = T.exp(A[vi, vj])

    @R.function
    def main(x: R.Tensor((4, 8), "float32"), y: R.Tensor((4, 8), "float32")):
        cls = Module
        with R.dataflow():
            a = R.call_tir(cls.add, (x, y), R.Tensor((4, 8), "float32"))
            b = R.call_tir_inplace(cls.exp_inplace, (a,), [0], R.Tensor((4, 8), "float32"))
            R.output(b)
        return b
# expect:
# from tvm.script import ir as I
# from tvm.script import tir as T
# from tvm.script import relax as R

@I.ir_module
class Module:
    @T.prim_func(private=True)
    def fused_add_exp_inplace(x: T.Buffer((4, 8), "float32"), y: T.Buffer((4, 8), "float32"), b: T.Buffer((4, 8), "float32")):
        T.func_attr({"tir.noalias": True})
        # with T.block("root"):
        for i, j in T.grid(4, 8):
            with T.block("add"):
                vi, vj = T.axis.remap("SS", [i, j])
                T.reads(x[vi, vj], y[vi, vj])
                T.writes(b[vi, vj])
                b[vi, vj] = x[vi, vj] + y[vi, vj]
        for i, j in T.grid(4, 8):
            with T.block("exp"):
                vi, vj = T.axis.remap("SS", [i, j])
                T.reads(b[vi, vj])
                T.writes(b[vi, vj])
                b[vi, vj] = T.exp(b[vi, vj])

    @R.function
    def main(x: R.Tensor((4, 8), dtype="float32"), y: R.Tensor((4, 8), dtype="float32")) -> R.Tensor((4, 8), dtype="float32"):
        cls = Module
        with R.dataflow():
            b = R.call_tir(cls.fused_add_exp_inplace, (x, y), out_sinfo=R.Tensor((4, 8), dtype="float32"))
            R.output(b)
        return b
