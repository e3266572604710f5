# test: sched
# run: cache_write(block("B"), 0, "local")
@T.prim_func
def before(A: T.Buffer((24,), "float32"), B: T.Buffer((24,), "float32")):
    for i in range(4, 20):
        with T.block("B"):
            vi = T.axis.spatial((4, 20), i)
            B[vi] = A[vi] * T.float32(2)
# expect:
# from tvm.script import tir as T

@T.prim_func
def after(A: T.Buffer((24,), "float32"), B: T.Buffer((24,), "float32")):
    # with T.block("root"):
    B_local = T.alloc_buffer((16,), scope="local")
    for i in range(4, 20):
        with T.block("B"):
            vi = T.axis.spatial((4, 20), i)
            T.reads(A[vi])
            T.writes(B_local[vi - 4])
            B_local[vi - 4] = A[vi] * T.float32(2)
    for ax0 in range(16):
        with T.block("B_local"):
            v0 = T.axis.spatial(16, ax0)
            T.reads(B_local[v0])
            T.writes(B[4 + v0])
            B[4 + v0] = B_local[v0]
