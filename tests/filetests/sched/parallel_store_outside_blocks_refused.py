# test: sched
# run: parallel(loop("B", 0))
@T.prim_func
def before(A: T.Buffer((10,), "float32"), B: T.Buffer((10,), "float32"), D: T.Buffer((1,), "float32")):
    for i in range(10):
        D[0] = D[0] + A[i]
        with T.block("B"):
            vi = T.axis.spatial(10, i)
            B[vi] = A[vi]
# expect-error:
# error: parallel: a store stands outside of blocks, where primitives do not look
#   --> before:6:5
#   |
# 6 |     for i in range(10):
#   |     ^^^^^^^^^^^^^^^^^^^ loop `i`
