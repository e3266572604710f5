# test: sched
# run: split(loop("B", 0), [4, 8])
@T.prim_func
def before(A: T.Buffer((128,), "float32"), B: T.Buffer((128,), "float32")):
    for i in range(128):
        with T.block("B"):
            vi = T.axis.spatial(128, i)
            B[vi] = A[vi] * T.float32(2)

# expect-error:
# error: split: the product of the factors, 32, is not known to reach the extent of loop `i`, 128
#   --> before:6:5
#   |
# 6 |     for i in range(128):
#   |     ^^^^^^^^^^^^^^^^^^^^ loop `i`
