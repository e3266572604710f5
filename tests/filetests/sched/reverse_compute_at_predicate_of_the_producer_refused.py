# test: sched
# run: reverse_compute_at(block("C"), loop("B", 0))
@T.prim_func
def before(A: T.Buffer((10,), "float32"), C: T.Buffer((10,), "float32")):
    B = T.alloc_buffer((10,), "float32")
    for i0, i1 in T.grid(5, 4):
        with T.block("B"):
            vi = T.axis.spatial(10, i0 * 2 + i1)
            T.where(i1 < 2)
            B[vi] = A[vi] * T.float32(2)
    for i in range(10):
        with T.block("C"):
            vi = T.axis.spatial(10, i)
            C[vi] = B[vi] + T.float32(1)
# expect-error:
# error: reverse_compute_at: the predicate i1 < 2 of block `B` says more than the domains of its iter variables, and would be lost
#   --> before:8:9
#   |
# 8 |         with T.block("B"):
#   |         ^^^^^^^^^^^^^^^^^^ block "B"
