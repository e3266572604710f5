# test: sched
# run: reverse_compute_inline(block("C"))
@T.prim_func
def before(A: T.Buffer((68,), "float32"), C: T.Buffer((64,), "float32")):
    B = T.alloc_buffer((66,), "float32")
    for i in range(66):
        with T.block("B"):
            vi = T.axis.spatial(66, i)
            B[vi] = A[vi] + A[vi + 1] + A[vi + 2]
    for i in range(64):
        with T.block("C"):
            vi = T.axis.spatial(64, i)
            C[vi] = B[vi] + B[vi + 1] + B[vi + 2]
# expect-error:
# error: reverse_compute_inline: the body of block `C` is not a store of the form that can be inlined
#    --> before:14:9
#    |
# 14 |         with T.block("C"):
#    |         ^^^^^^^^^^^^^^^^^^ block "C"
