# test: pass
# run: fuse_tir
# A function whose result is in the memory of a parameter is a program that overwrites it.

@I.ir_module
class Module:
    @T.prim_func(private=True)
    def add_inplace(A: T.Buffer((4, 8), "float32"), B: T.Buffer((4, 8), "float32")):
        for i, j in T.grid(4, 8):
            with T.block("add"):
                vi, vj = T.axis.remap("SS", [i, j])
                A[vi, vj] = A[vi, vj] + B[vi, vj]

    @T.prim_func(private=True)
    def exp_inplace(A: T.Buffer((4, 8), "float32")):
        for i, j in T.grid(4, 8):
            with T.block("exp"):
                vi, vj = T.axis.remap("SS", [i, j])
                A[vi, vj] = T.exp(A[vi, vj])

    @R.function(private=True)
    def fused(x: R.Tensor((4, 8), "float32"), y: R.Tensor((4, 8), "float32")) -> R.Tensor((4, 8), "float32"):
        R.func_attr({"Primitive": True})
        cls = Module
        with R.dataflow():
            a = R.call_tir_inplace(cls.add_inplace, (x, y), [0], R.Tensor((4, 8), "float32"))
            b = R.call_tir_inplace(cls.exp_inplace, (a,), [0], R.Tensor((4, 8), "float32"))
            R.output(b)
        return b

    @R.function
    def main(x: R.Tensor((4, 8), "float32"), y: R.Tensor((4, 8), "float32")):
        cls = Module
        with R.dataflow():
            a = cls.fused(x, y)
            R.output(a)
        return a
# expect:
# from tvm.script import ir as I
# from tvm.script import tir as T
# from tvm.script import relax as R

@I.ir_module
class Module:
    @T.prim_func(private=True)
    def fused(x: T.Buffer((4, 8), "float32"), y: T.Buffer((4, 8), "float32")):
        T.func_attr({"tir.noalias": True})
        # with T.block("root"):
        for i, j in T.grid(4, 8):
            with T.block("add"):
                vi, vj = T.axis.remap("SS", [i, j])
                T.reads(x[vi, vj], y[vi, vj])
                T.writes(x[vi, vj])
                x[vi, vj] = x[vi, vj] + y[vi, vj]
        for i, j in T.grid(4, 8):
            with T.block("exp"):
                vi, vj = T.axis.remap("SS", [i, j])
                T.reads(x[vi, vj])
                T.writes(x[vi, vj])
                x[vi, vj] = T.exp(x[vi, vj])

    @R.function
    def main(x: R.Tensor((4, 8), dtype="float32"), y: R.Tensor((4, 8), dtype="float32")) -> R.Tensor((4, 8), dtype="float32"):
        cls = Module
        with R.dataflow():
            a = R.call_tir_inplace(cls.fused, (x, y), out_sinfo=R.Tensor((4, 8), dtype="float32"), inplace_indices=[0])
            R.output(a)
        return a
