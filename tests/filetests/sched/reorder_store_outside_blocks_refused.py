# test: sched
# run: reorder([loop("B", 1), loop("B", 0)])
@T.prim_func
def before(A: T.Buffer((10, 4), "float32"), B: T.Buffer((10, 4), "float32"), D: T.Buffer((1,), "float32")):
    for i, j in T.grid(10, 4):
        D[0] = A[i, j]
        with T.block("B"):
            vi, vj = T.axis.remap("SS", [i, j])
            B[vi, vj] = A[vi, vj]
# expect-error:
# error: reorder: a store stands outside of blocks, where primitives do not look
#   --> before:6:5
#   |
# 6 |     for i, j in T.grid(10, 4):
#   |     ^^^^^^^^^^^^^^^^^^^^^^^^^^ loop `j`
