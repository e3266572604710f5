# test: sched
# run: vectorize(loop("P", 0))
@T.prim_func
def before(A: T.Buffer((16,), "float32"), X: T.Buffer((17,), "float32"), Out: T.Buffer((16,), "float32")):
    for i in range(16):
        with T.block("Q"):
            vi = T.axis.spatial(16, i)
            Out[vi] = X[vi]
        with T.block("P"):
            vi = T.axis.spatial(16, i)
            X[vi + 1] = A[vi]
# expect-error:
# error: vectorize: the iterations of loop `i` are not known to be independent: one may run `P` on elements that others use in `Q`
#    --> before:6:5
#    |
#  6 |     for i in range(16):
#    |     ^^^^^^^^^^^^^^^^^^^ loop `i`
#  7 |         with T.block("Q"):
#    |         ------------------ block "Q"
#    .
# 12 |         with T.block("P"):
#    |         ------------------ block "P"
