# test: sched
# run: reverse_compute_at(block("C"), loop("B", 0))
@T.prim_func
def before(A: T.Buffer((10,), "float32"), C: T.Buffer((10,), "float32")):
    B = T.alloc_buffer((10,), "float32")
    for i in range(10):
        with T.block("B"):
            vi = T.axis.spatial(10, i)
            B[vi] = A[vi]
    for i, j in T.grid(5, 2):
        with T.block("C"):
            vi = T.axis.spatial(10, i * 2 + j)
            T.where(j < 1)
            C[vi] = B[vi]
# expect-error:
# error: reverse_compute_at: the predicate j < 1 of block `C` says more than the domains of its iter variables, and would be lost
#    --> before:14:9
#    |
# 14 |         with T.block("C"):
#    |         ^^^^^^^^^^^^^^^^^^ block "C"
