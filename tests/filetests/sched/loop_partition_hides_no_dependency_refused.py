# test: sched
# run: loop_partition(loop("B", 0), [4])
# run: reverse_compute_at("B_i_common", loop("C", 0))
@T.prim_func
def before(A: T.Buffer((8, 20), "float32"), B: T.Buffer((8, 20), "float32"), C: T.Buffer((8, 20), "float32")):
    for i, j in T.grid(8, 20):
        with T.block("B"):
            vi, vj = T.axis.remap("SS", [i, j])
            B[vi, vj] = A[vi, vj] + T.float32(1)
    for i, j in T.grid(8, 20):
        with T.block("C"):
            vi, vj = T.axis.remap("SS", [i, j])
            C[vi, vj] = B[7 - vi, vj] + T.float32(1)
# expect-error:
# error: reverse_compute_at: block `B_i_common`, which holds blocks of its own, cannot be cut by loop `i` or moved there
#   --> before:6:5
#   |
# 6 |     with T.block("B_i_common"):
#   |     ^^^^^^^^^^^^^^^^^^^^^^^^^^^ block "B_i_common"
