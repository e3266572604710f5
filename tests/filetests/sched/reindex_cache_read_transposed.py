# test: sched
# run: r = reindex_cache_read(block("C"), 0, "local", "lambda i, j: (j // 4, i, j % 4)")
# run: compute_at(r, loop("C", 0))
@T.prim_func
def before(A: T.Buffer((16, 18), "float32"), C: T.Buffer((16, 18), "float32")):
    for i, j in T.grid(16, 18):
        with T.block("C"):
            vi, vj = T.axis.remap("SS", [i, j])
            C[vi, vj] = A[vi, vj] * T.float32(2)
# expect:
# from tvm.script import tir as T

@T.prim_func
def after(A: T.Buffer((16, 18), "float32"), C: T.Buffer((16, 18), "float32")):
    # with T.block("root"):
    A_local = T.alloc_buffer((5, 16, 4), scope="local")
    for i in range(16):
        for ax0 in range(18):
            with T.block("A_local"):
                vi, vj = T.axis.remap("SS", [i, ax0])
                T.reads(A[vi, vj])
                T.writes(A_local[vj // 4, vi, vj % 4])
                A_local[vj // 4, vi, vj % 4] = A[vi, vj]
        for j in range(18):
            with T.block("C"):
                vi, vj = T.axis.remap("SS", [i, j])
                T.reads(A_local[vj // 4, vi, vj % 4])
                T.writes(C[vi, vj])
                C[vi, vj] = A_local[vj // 4, vi, vj % 4] * T.float32(2)
