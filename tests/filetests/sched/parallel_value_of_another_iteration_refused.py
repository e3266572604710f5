# test: sched
# run: parallel(loop("P", 0))
@T.prim_func
def before(A: T.Buffer((16,), "float32"), Out: T.Buffer((16,), "float32")):
    B = T.alloc_buffer((16,), "float32")
    for i in range(16):
        with T.block("P"):
            vi = T.axis.spatial(16, i)
            B[vi] = A[vi]
        with T.block("Q"):
            vi = T.axis.spatial(16, i)
            T.where(i >= 1)
            Out[vi] = B[vi - 1]
# expect-error:
# error: parallel: the iterations of loop `i` are not known to be independent: one may run `Q` on elements that others use in `P`
#    --> before:7:5
#    |
#  7 |     for i in range(16):
#    |     ^^^^^^^^^^^^^^^^^^^ loop `i`
#  8 |         with T.block("P"):
#    |         ------------------ block "P"
#    .
# 13 |         with T.block("Q"):
#    |         ------------------ block "Q"
