# test: sched
# run: reverse_compute_at(block("C"), loop("B", 0))
# run: split(loop("C", 0), [None, 7])
# run: reindex_cache_read(block("C"), 0, "local", "lambda i: (i,)")
@T.prim_func
def before(A: T.Buffer((24,), "float32"), C: T.Buffer((24,), "float32")):
    B = T.alloc_buffer((24,))
    for i in range(24):
        with T.block("B"):
            vi = T.axis.spatial(24, i)
            B[vi] = A[vi] * T.float32(2)
    for i in range(24):
        with T.block("C"):
            vi = T.axis.spatial(24, i)
            C[vi] = B[vi] + T.float32(1)
# expect:
# from tvm.script import tir as T

@T.prim_func
def after(A: T.Buffer((24,), "float32"), C: T.Buffer((24,), "float32")):
    # with T.block("root"):
    B = T.alloc_buffer((24,))
    B_local = T.alloc_buffer((24,), scope="local")
    for i_0, i_1 in T.grid(4, 7):
        with T.block("B"):
            vi = T.axis.spatial(24, i_0 * 7 + i_1)
            T.where(i_0 * 7 + i_1 < 24)
            T.reads(A[vi])
            T.writes(B[vi])
            B[vi] = A[vi] * T.float32(2)
        with T.block("B_local"):
            vi = T.axis.spatial(24, i_0 * 7 + i_1)
            T.where(i_0 * 7 + i_1 < 24)
            T.reads(B[vi])
            T.writes(B_local[vi])
            B_local[vi] = B[vi]
        with T.block("C"):
            vi = T.axis.spatial(24, i_0 * 7 + i_1)
            T.where(i_0 * 7 + i_1 < 24)
            T.reads(B_local[vi])
            T.writes(C[vi])
            C[vi] = B_local[vi] + T.float32(1)
