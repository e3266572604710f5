# test: print
# Spellings of several eras in one module.

n = TypeVar("n")

@tvm.script.ir_module
class Module:
    @T.prim_func(private=True, s_tir=True)
    def old(rx: T.Buffer[(4, 8), "float16"], out: T.Buffer[(4, 8), "int8"]) -> None:
        T.func_attr({"global_symbol": "old", "tir.noalias": True, "target": T.target({"kind": "llvm", "keys": ["cpu"]})})
        # body
        for i0, i1 in T.grid(4, 8):
            with T.sblock("b"):
                v0, v1 = T.axis.remap("SS", [i0, i1])
                T.reads([rx[v0, v1]])
                T.writes([out[v0, v1]])
                T.sblock_attr({"note": [1, 2.5, "three", None, True]})
                out[v0, v1] = T.cast(rx[v0, v1] * 2.0, "int8")

    @T.prim_func
    def symbolic(a: T.handle, b: T.handle, alpha: T.float32):
        m = T.var("int64")
        A = T.match_buffer(a, (m, n), "float32")
        B = T.match_buffer(b, [m, n], strides=[n, 1])
        C = T.sblock_alloc_buffer((m, n), "float32", scope="shared")
        for i in T.thread_binding(0, 16, thread="blockIdx.x"):
            for j in T.vectorized(2, n):
                with T.block():
                    vi = T.axis.S(m, T.Cast("int64", i))
                    vj = T.axis.S((2, n), j)
                    T.where(vi < m)
                    if vj == T.int64(3) or not 1 <= vi < m - 1:
                        C[vi, vj] = A[vi, vj]
                    elif vj > 7:
                        C[vi, vj] = alpha
                    else:
                        B[vi, vj] = -A[vi, vj]

    @T.prim_func
    def vectors(A: T.Buffer((64,), "float32"), x: T.Buffer((), "float32")):
        s: T.int32 = 4 * 4
        A[0:4] = A[s:s + 4] + T.Broadcast(x[()], 4)
        A[T.Ramp(s, 2, 4)] = T.Broadcast(T.float32("-inf"), 4)
        with T.LetStmt(A[0] * T.float32(3)) as three:
            A[1] = three
        while A[2] < T.float32(1e-5):
            A[2] = T.Let(y + y, where={y: A[2]})
        assert s > 2, "s is \"large\""
        T.evaluate(T.Add(1, 2) + s % -3 - (s - 1) * 2 << 1)
# expect:
# from tvm.script import ir as I
# from tvm.script import tir as T

@I.ir_module
class Module:
    @T.prim_func(private=True)
    def old(rx: T.Buffer((4, 8), "float16"), out: T.Buffer((4, 8), "int8")):
        T.func_attr({"global_symbol": "old", "tir.noalias": True, "target": {"kind": "llvm", "keys": ["cpu"]}})
        # with T.block("root"):
        for i0, i1 in T.grid(4, 8):
            with T.block("b"):
                v0, v1 = T.axis.remap("SS", [i0, i1])
                T.reads(rx[v0, v1])
                T.writes(out[v0, v1])
                T.block_attr({"note": [1, 2.5, "three", None, True]})
                out[v0, v1] = T.Cast("int8", rx[v0, v1] * T.float16(2))

    @T.prim_func
    def symbolic(a: T.handle, b: T.handle, alpha: T.float32):
        m, n = T.int64(), T.int64()
        A = T.match_buffer(a, (m, n))
        B = T.match_buffer(b, (m, n), strides=(n, 1))
        # with T.block("root"):
        C = T.alloc_buffer((m, n), scope="shared")
        for i in T.thread_binding(16, thread="blockIdx.x"):
            for j in T.vectorized(T.int64(2), n):
                with T.block():
                    vi = T.axis.spatial(m, T.Cast("int64", i))
                    vj = T.axis.spatial((T.int64(2), n), j)
                    T.where(vi < m)
                    T.reads(A[vi, vj])
                    T.writes(C[vi, vj], B[vi, vj])
                    if vj == T.int64(3) or not (T.int64(1) <= vi and vi < m - T.int64(1)):
                        C[vi, vj] = A[vi, vj]
                    elif vj > T.int64(7):
                        C[vi, vj] = alpha
                    else:
                        B[vi, vj] = T.float32(0) - A[vi, vj]

    @T.prim_func
    def vectors(A: T.Buffer((64,), "float32"), x: T.Buffer((), "float32")):
        # with T.block("root"):
        s: T.int32 = 16
        A[0:4] = A[s:s + 4] + T.Broadcast(x[()], 4)
        A[T.Ramp(s, 2, 4)] = T.Broadcast(T.float32("-inf"), 4)
        with T.LetStmt(A[0] * T.float32(3)) as three:
            A[1] = three
        while A[2] < T.float32(1e-5):
            A[2] = T.Let(y + y, where={y: A[2]})
        assert s > 2, "s is \"large\""
        T.evaluate(T.Add(1, 2) + s % -3 - (s - 1) * 2 << 1)
