# test: sched
# run: reorder([loop("P", 1), loop("P", 0)])
@T.prim_func
def before(A: T.Buffer((8, 8), "float32"), Out: T.Buffer((8, 8), "float32")):
    B = T.alloc_buffer((8, 8), "float32")
    for i, j in T.grid(8, 8):
        with T.block("P"):
            vi, vj = T.axis.remap("SS", [i, j])
            B[vi, vj] = A[vi, vj]
        with T.block("Q"):
            vi, vj = T.axis.remap("SS", [i, j])
            T.where(i >= 1 and j < 7)
            Out[vi, vj] = B[vi - 1, vj + 1]
# expect-error:
# error: reorder: the iterations of loop `j` are not known to be independent: one may run `Q` on elements that others use in `P`
#    --> before:7:5
#    |
#  7 |     for i, j in T.grid(8, 8):
#    |     ^^^^^^^^^^^^^^^^^^^^^^^^^ loop `j`
#  8 |         with T.block("P"):
#    |         ------------------ block "P"
#    .
# 13 |         with T.block("Q"):
#    |         ------------------ block "Q"
