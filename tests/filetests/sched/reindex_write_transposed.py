# test: sched
# run: reindex(block("C"), "write", 0)
@T.prim_func
def before(A: T.Buffer((10, 12), "float32"), C: T.Buffer((12, 10), "float32")):
    B = T.alloc_buffer((10, 12), "float32")
    for i, j in T.grid(10, 12):
        with T.block("B"):
            vi, vj = T.axis.remap("SS", [i, j])
            B[vi, vj] = A[vi, vj] * T.float32(2)
    for i, j in T.grid(10, 12):
        with T.block("C"):
            vi, vj = T.axis.remap("SS", [i, j])
            C[vj, vi] = B[vi, vj] + T.float32(1)
# expect:
# from tvm.script import tir as T

@T.prim_func
def after(A: T.Buffer((10, 12), "float32"), C: T.Buffer((12, 10), "float32")):
    # with T.block("root"):
    B = T.alloc_buffer((10, 12))
    C_reindex = T.alloc_buffer((10, 12))
    for i, j in T.grid(10, 12):
        with T.block("B"):
            vi, vj = T.axis.remap("SS", [i, j])
            T.reads(A[vi, vj])
            T.writes(B[vi, vj])
            B[vi, vj] = A[vi, vj] * T.float32(2)
    for i, j in T.grid(10, 12):
        with T.block("C"):
            vi, vj = T.axis.remap("SS", [i, j])
            T.reads(B[vi, vj])
            T.writes(C_reindex[vi, vj])
            C_reindex[vi, vj] = B[vi, vj] + T.float32(1)
    for ax0, ax1 in T.grid(10, 12):
        with T.block("C_reindex"):
            v0, v1 = T.axis.remap("SS", [ax0, ax1])
            T.reads(C_reindex[v0, v1])
            T.writes(C[v1, v0])
            C[v1, v0] = C_reindex[v0, v1]
