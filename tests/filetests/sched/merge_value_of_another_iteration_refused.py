# test: sched
# run: merge([loop("B", 0), loop("C", 0)])
@T.prim_func
def before(A: T.Buffer((16,), "float32"), C: T.Buffer((16,), "float32")):
    B = T.alloc_buffer((16,), "float32")
    for i in range(16):
        with T.block("B"):
            vi = T.axis.spatial(16, i)
            B[vi] = A[vi] + T.float32(1)
    for i in range(16):
        with T.block("C"):
            vi = T.axis.spatial(16, i)
            C[vi] = B[15 - vi]
# expect-error:
# error: merge: the iterations of loop `i_m` are not known to be independent: one may run `C` on elements that others use in `B`
#    --> before:7:5
#    |
#  7 |     for i in range(16):
#    |     ^^^^^^^^^^^^^^^^^^^ loop `i`
#    .
# 13 |     for i in range(16):
#    |     ------------------- loop `i`
