# test: sched
# run: parallel(loop("acc", 0))
@T.prim_func
def before(A: T.Buffer((32, 8), "float32"), B: T.Buffer((32, 8), "float32")):
    for i, j in T.grid(32, 8):
        with T.block("acc"):
            vi, vj = T.axis.remap("SS", [i, j])
            A[vi, vj] = A[vi, vj] + B[vi, vj]
# expect-error:
# error: parallel: the blocks below do not have compact dataflow: `acc` is neither complete nor a reduction there
#   --> before:6:5
#   |
# 6 |     for i, j in T.grid(32, 8):
#   |     ^^^^^^^^^^^^^^^^^^^^^^^^^^ loop `i`
# 7 |         with T.block("acc"):
#   |         -------------------- block "acc"
