# test: sched
# run: parallel(loop("P", 0))
@T.prim_func
def before(A: T.Buffer((16,), "float32"), X: T.Buffer((17,), "float32"), Out: T.Buffer((16,), "float32")):
    for i in range(16):
        with T.block("P"):
            vi = T.axis.spatial(16, i)
            Out[vi] = X[vi + 1]
        with T.block("Q"):
            vi = T.axis.spatial(16, i)
            X[vi] = A[vi]
# expect-error:
# error: parallel: the iterations of loop `i` are not known to be independent: one may run `Q` on elements that others use in `P`
#    --> before:6:5
#    |
#  6 |     for i in range(16):
#    |     ^^^^^^^^^^^^^^^^^^^ loop `i`
#  7 |         with T.block("P"):
#    |         ------------------ block "P"
#    .
# 12 |         with T.block("Q"):
#    |         ------------------ block "Q"
