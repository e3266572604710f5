# test: sched
# run: reverse_compute_at(block("C"), loop("B", 0))
@T.prim_func
def before(A: T.Buffer((10,), "float32"), C: T.Buffer((10,), "float32")):
    B = T.alloc_buffer((10,), "float32")
    for i in range(10):
        with T.block("B"):
            vi = T.axis.spatial(10, i)
            B[vi] = A[vi]
    for i in range(10):
        with T.block("C"):
            vi = T.axis.spatial(10, i)
            T.where(i % 2 == 0)
            C[vi] = B[vi]
# expect:
@T.prim_func
def after(A: T.Buffer((10,), "float32"), C: T.Buffer((10,), "float32")):
    B = T.alloc_buffer((10,), "float32")
    for i in range(10):
        with T.block("B"):
            vi = T.axis.spatial(10, i)
            B[vi] = A[vi]
        with T.block("C"):
            vi = T.axis.spatial(10, i)
            T.where(i % 2 == 0)
            C[vi] = B[vi]
