# test: sched
# run: split(loop("B", 0), [None, 65536, 65536])
@T.prim_func
def before(A: T.Buffer((128,), "float32"), B: T.Buffer((128,), "float32")):
    for i in range(128):
        with T.block("B"):
            vi = T.axis.spatial(128, i)
            B[vi] = A[vi]
# expect-error:
# error: split: factor 65536 at position 2 makes the product of the factors larger than the loop's type holds
#   --> before:6:5
#   |
# 6 |     for i in range(128):
#   |     ^^^^^^^^^^^^^^^^^^^^ loop `i`
