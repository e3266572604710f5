# test: print
# Regions that the text leaves out: points, hulls of several accesses, loops inside of the block, the own result of a reduction.

@T.prim_func
def main(A: T.Buffer((68,), "float32"), X: T.Buffer((16, 32), "float32"), idx: T.Buffer((16,), "int32"), C: T.Buffer((64,), "float32"), S: T.Buffer((16,), "float32"), D: T.Buffer((16, 32), "float32")):
    for i in range(64):
        with T.block("stencil"):
            vi = T.axis.spatial(64, i)
            C[vi] = A[vi] + A[vi + 1] + A[vi + 4]
    for i, k in T.grid(16, 32):
        with T.block("sum"):
            vi, vk = T.axis.remap("SR", [i, k])
            with T.init():
                S[vi] = 0.0
            S[vi] += X[vi, vk]
    for io in range(4):
        with T.block("tile"):
            vio = T.axis.spatial(4, io)
            for ii, j in T.grid(4, 32):
                D[vio * 4 + ii, j] = X[idx[vio], j] * X[vio * 4 + 3 - ii, j // 2]
    for io in range(4):
        with T.block("outer"):
            vio = T.axis.spatial(4, io)
            for ii, j in T.grid(4, 32):
                with T.block("inner"):
                    vi = T.axis.spatial(4, ii)
                    vj = T.axis.spatial(32, j)
                    D[vio * 4 + vi, vj] = T.if_then_else(vj < 2, X[vio * 4 + vi, vj], 0.0)
# expect:
# from tvm.script import ir as I
# from tvm.script import tir as T

@I.ir_module
class Module:
    @T.prim_func
    def main(A: T.Buffer((68,), "float32"), X: T.Buffer((16, 32), "float32"), idx: T.Buffer((16,), "int32"), C: T.Buffer((64,), "float32"), S: T.Buffer((16,), "float32"), D: T.Buffer((16, 32), "float32")):
        # with T.block("root"):
        for i in range(64):
            with T.block("stencil"):
                vi = T.axis.spatial(64, i)
                T.reads(A[vi:vi + 5])
                T.writes(C[vi])
                C[vi] = A[vi] + A[vi + 1] + A[vi + 4]
        for i, k in T.grid(16, 32):
            with T.block("sum"):
                vi, vk = T.axis.remap("SR", [i, k])
                T.reads(X[vi, vk])
                T.writes(S[vi])
                with T.init():
                    S[vi] = T.float32(0)
                S[vi] = S[vi] + X[vi, vk]
        for io in range(4):
            with T.block("tile"):
                vio = T.axis.spatial(4, io)
                T.reads(X[0:16, 0:32], idx[vio])
                T.writes(D[vio * 4:vio * 4 + 4, 0:32])
                for ii, j in T.grid(4, 32):
                    D[vio * 4 + ii, j] = X[idx[vio], j] * X[vio * 4 + 3 - ii, j // 2]
        for io in range(4):
            with T.block("outer"):
                vio = T.axis.spatial(4, io)
                T.reads(X[vio * 4:vio * 4 + 4, 0:32])
                T.writes(D[vio * 4:vio * 4 + 4, 0:32])
                for ii, j in T.grid(4, 32):
                    with T.block("inner"):
                        vi, vj = T.axis.remap("SS", [ii, j])
                        T.reads(X[vio * 4 + vi, vj])
                        T.writes(D[vio * 4 + vi, vj])
                        D[vio * 4 + vi, vj] = T.if_then_else(vj < 2, X[vio * 4 + vi, vj], T.float32(0))
