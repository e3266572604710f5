# test: sched
# run: loop_partition(loop("B", 1), [4])
# run: cache_write("B_j1", 0, "local")
@T.prim_func
def before(A: T.Buffer((8, 20), "float32"), B: T.Buffer((8, 20), "float32")):
    for i, j in T.grid(8, 20):
        with T.block("B"):
            vi, vj = T.axis.remap("SS", [i, j])
            B[vi, vj] = A[vi, vj] + T.float32(1)
# expect-error:
# error: cache_write: block `B_j1` is not known to write all of the region of `B` that would be copied
#    --> before:23:21
#    |
# 23 |                     with T.block("B_j1"):
#    |                     ^^^^^^^^^^^^^^^^^^^^^ block "B_j1"
