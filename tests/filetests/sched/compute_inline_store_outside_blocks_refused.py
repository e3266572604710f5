# test: sched
# run: compute_inline(block("B"))
@T.prim_func
def before(A: T.Buffer((8,), "float32"), C: T.Buffer((8,), "float32"), D: T.Buffer((8,), "float32")):
    B = T.alloc_buffer((8,), "float32")
    for i in range(8):
        with T.block("B"):
            vi = T.axis.spatial(8, i)
            B[vi] = A[vi]
    for i in range(8):
        D[i] = B[i]
    for i in range(8):
        with T.block("C"):
            vi = T.axis.spatial(8, i)
            C[vi] = B[vi]
# expect-error:
# error: compute_inline: a store stands outside of blocks, where primitives do not look
#    --> before:13:5
#    |
# 13 |     for i in range(8):
#    |     ^^^^^^^^^^^^^^^^^^ loop `i`
