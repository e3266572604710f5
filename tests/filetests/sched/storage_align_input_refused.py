# test: sched
# run: storage_align(block("B"), 0, 0, 32, 4)
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
# expect-error:
# error: storage_align: buffer `B` is not allocated in this function, so its storage is not ours to choose
#    --> before:14:9
#    |
# 14 |         with T.block("B"):
#    |         ^^^^^^^^^^^^^^^^^^ block "B"
