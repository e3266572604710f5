# test: sched
# run: storage_align(block("A_shared"), 0, -2, 32, 4)
@T.prim_func
def before(A: T.Buffer((16, 64), "float32"), B: T.Buffer((64, 16), "float32")):
    A_shared = T.alloc_buffer((16, 64), "float32", scope="shared")
    for i, j in T.grid(16, 64):
        with T.block("A_shared"):
            vi, vj = T.axis.remap("SS", [i, j])
            A_shared[vi, vj] = A[vi, vj]
    for i, j in T.grid(64, 16):
        with T.block("B"):
            vi, vj = T.axis.remap("SS", [i, j])
            B[vi, vj] = A_shared[vj, vi]
# expect:
# from tvm.script import tir as T

@T.prim_func
def after(A: T.Buffer((16, 64), "float32"), B: T.Buffer((64, 16), "float32")):
    # with T.block("root"):
    A_shared = T.alloc_buffer((16, 64), scope="shared")
    for i, j in T.grid(16, 64):
        with T.block("A_shared"):
            vi, vj = T.axis.remap("SS", [i, j])
            T.reads(A[vi, vj])
            T.writes(A_shared[vi, vj])
            T.block_attr({"buffer_dim_align": [[0, 0, 32, 4]]})
            A_shared[vi, vj] = A[vi, vj]
    for i, j in T.grid(64, 16):
        with T.block("B"):
            vi, vj = T.axis.remap("SS", [i, j])
            T.reads(A_shared[vj, vi])
            T.writes(B[vi, vj])
            B[vi, vj] = A_shared[vj, vi]
