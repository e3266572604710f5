# test: sched
# run: split(loop("B", 0), [None, 4])
@T.prim_func
def before(A: T.Buffer((10,), "float32"), B: T.Buffer((10,), "float32"), D: T.Buffer((10,), "float32")):
    for i in range(10):
        D[i] = A[i]
        with T.block("B"):
            vi = T.axis.spatial(10, i)
            B[vi] = A[vi]
# expect-error:
# error: split: a store stands outside of blocks, where primitives do not look
#   --> before:6:5
#   |
# 6 |     for i in range(10):
#   |     ^^^^^^^^^^^^^^^^^^^ loop `i`
