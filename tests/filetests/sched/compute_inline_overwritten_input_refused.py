# test: sched
# run: compute_inline(block("P"))
@T.prim_func
def before(A: T.Buffer((4,), "float32"), C: T.Buffer((4,), "float32")):
    X = T.alloc_buffer((1,), "float32")
    B = T.alloc_buffer((4,), "float32")
    for t in range(4):
        with T.block("W"):
            vt = T.axis.spatial(4, t)
            X[0] = A[vt]
        with T.block("P"):
            vt = T.axis.spatial(4, t)
            B[vt] = X[0] * T.float32(2)
    for t in range(4):
        with T.block("Q"):
            vt = T.axis.spatial(4, t)
            C[vt] = B[vt]
# expect-error:
# error: compute_inline: block `W` overwrites what block `P` reads, and would do so too early
#    --> before:14:9
#    |
#  9 |         with T.block("W"):
#    |         ------------------ block "W"
#    .
# 14 |         with T.block("P"):
#    |         ^^^^^^^^^^^^^^^^^^ block "P"
