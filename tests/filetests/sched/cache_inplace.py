# test: sched
# run: a, b = cache_inplace("acc", 0, "local")
@T.prim_func
def before(A: T.Buffer((32, 8), "float32"), B: T.Buffer((32, 8), "float32")):
    for i, j in T.grid(32, 8):
        with T.block("acc"):
            vi, vj = T.axis.remap("SS", [i, j])
            A[vi, vj] = A[vi, vj] + B[vi, vj]
# expect:
# from tvm.script import tir as T

@T.prim_func
def after(A: T.Buffer((32, 8), "float32"), B: T.Buffer((32, 8), "float32")):
    # with T.block("root"):
    A_local = T.alloc_buffer((32, 8), scope="local")
    for i, j in T.grid(32, 8):
        for ax0, ax1 in T.grid(1, 1):
            with T.block("A_local"):
                v0 = T.axis.spatial(32, i + ax0)
                v1 = T.axis.spatial(8, j + ax1)
                T.reads(A[v0, v1])
                T.writes(A_local[v0, v1])
                A_local[v0, v1] = A[v0, v1]
        with T.block("acc"):
            vi, vj = T.axis.remap("SS", [i, j])
            T.reads(A_local[vi, vj], B[vi, vj])
            T.writes(A_local[vi, vj])
            A_local[vi, vj] = A_local[vi, vj] + B[vi, vj]
        for ax0, ax1 in T.grid(1, 1):
            with T.block("A_local"):
                v0 = T.axis.spatial(32, i + ax0)
                v1 = T.axis.spatial(8, j + ax1)
                T.reads(A_local[v0, v1])
                T.writes(A[v0, v1])
                A[v0, v1] = A_local[v0, v1]
