# test: pass
# run: specialize, dead_code_elimination
# Calls with equal sizes share a copy, what is symbolic at the call stays so, and what nobody calls any more goes.

@I.ir_module
class Module:
    @T.prim_func
    def double(x: T.handle, y: T.handle):
        n, m = T.int64(), T.int64()
        X = T.match_buffer(x, (n, m), "float32")
        Y = T.match_buffer(y, (n, m), "float32")
        Z = T.alloc_buffer((m * 2,), "float32")
        for i, j in T.grid(n, m):
            with T.block("Z"):
                vi, vj = T.axis.remap("SS", [i, j])
                Z[vj * 2] = X[vi, vj]
        for i, j in T.grid(n, m):
            with T.block("Y"):
                vi, vj = T.axis.remap("SS", [i, j])
                Y[vi, vj] = Z[vj * 2] + X[vi, vj]

    @R.function
    def main(x: R.Tensor(("batch", 128), "float32"), w: R.Tensor((3, "k"), "float32")):
        batch, k = T.int64(), T.int64()
        with R.dataflow():
            a = R.call_tir(double, (x,), R.Tensor((batch, 128), "float32"))
            b = R.call_tir(double, (a,), R.Tensor((batch, 128), "float32"))
            c = R.call_tir(double, (w,), R.Tensor((3, k), "float32"))
            R.output(b, c)
        return (b, c)
# expect:
# from tvm.script import ir as I
# from tvm.script import tir as T
# from tvm.script import relax as R

@I.ir_module
class Module:
    @T.prim_func
    def double_128(x: T.handle, y: T.handle):
        n = T.int64()
        X = T.match_buffer(x, (n, 128))
        Y = T.match_buffer(y, (n, 128))
        # with T.block("root"):
        Z = T.alloc_buffer((256,))
        for i, j in T.grid(n, T.int64(128)):
            with T.block("Z"):
                vi, vj = T.axis.remap("SS", [i, j])
                T.reads(X[vi, vj])
                T.writes(Z[vj * T.int64(2)])
                Z[vj * T.int64(2)] = X[vi, vj]
        for i, j in T.grid(n, T.int64(128)):
            with T.block("Y"):
                vi, vj = T.axis.remap("SS", [i, j])
                T.reads(Z[vj * T.int64(2)], X[vi, vj])
                T.writes(Y[vi, vj])
                Y[vi, vj] = Z[vj * T.int64(2)] + X[vi, vj]

    @T.prim_func
    def double_3(x: T.handle, y: T.handle):
        m = T.int64()
        X = T.match_buffer(x, (3, m))
        Y = T.match_buffer(y, (3, m))
        # with T.block("root"):
        Z = T.alloc_buffer((m * T.int64(2),))
        for i, j in T.grid(T.int64(3), m):
            with T.block("Z"):
                vi, vj = T.axis.remap("SS", [i, j])
                T.reads(X[vi, vj])
                T.writes(Z[vj * T.int64(2)])
                Z[vj * T.int64(2)] = X[vi, vj]
        for i, j in T.grid(T.int64(3), m):
            with T.block("Y"):
                vi, vj = T.axis.remap("SS", [i, j])
                T.reads(Z[vj * T.int64(2)], X[vi, vj])
                T.writes(Y[vi, vj])
                Y[vi, vj] = Z[vj * T.int64(2)] + X[vi, vj]

    @R.function
    def main(x: R.Tensor(("batch", 128), dtype="float32"), w: R.Tensor((3, "k"), dtype="float32")) -> R.Tuple(R.Tensor(("batch", 128), dtype="float32"), R.Tensor((3, "k"), dtype="float32")):
        batch = T.int64()
        k = T.int64()
        cls = Module
        with R.dataflow():
            a = R.call_tir(cls.double_128, (x,), out_sinfo=R.Tensor((batch, 128), dtype="float32"))
            b = R.call_tir(cls.double_128, (a,), out_sinfo=R.Tensor((batch, 128), dtype="float32"))
            c = R.call_tir(cls.double_3, (w,), out_sinfo=R.Tensor((3, k), dtype="float32"))
            R.output(b, c)
        return (b, c)
