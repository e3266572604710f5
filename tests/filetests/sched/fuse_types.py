# test: sched
# run: split(loop("C", 1), [None, 32])
# run: fuse([loop("C", 0), loop("C", 1)])
# The fused loop counts in the wider type; what a loop of one iteration counted keeps its own, also in conditions.
@T.prim_func
def before(A: T.Buffer((1, 24), "float32"), C: T.Buffer((1, 24), "float32")):
    for i, j in T.grid(T.int64(1), 24):
        with T.block("C"):
            vi, vj = T.axis.remap("SS", [i, j])
            C[vi, vj] = A[vi, vj] + T.float32(1)
# expect:
# from tvm.script import tir as T

@T.prim_func
def after(A: T.Buffer((1, 24), "float32"), C: T.Buffer((1, 24), "float32")):
    # with T.block("root"):
    for i_j_0_fused, j_1 in T.grid(T.int64(1), 32):
        with T.block("C"):
            vi = T.axis.spatial(T.int64(1), T.int64(0))
            vj = T.axis.spatial(24, j_1)
            T.where(T.Mul(0, 32) + j_1 < 24)
            T.reads(A[vi, vj])
            T.writes(C[vi, vj])
            C[vi, vj] = A[vi, vj] + T.float32(1)
