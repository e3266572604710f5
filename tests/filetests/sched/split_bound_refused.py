# test: sched
# run: bind(loop("B", 0), "threadIdx.x")
# run: split(loop("B", 0), [None, 4])
@T.prim_func
def before(A: T.Buffer((128,), "float32"), B: T.Buffer((128,), "float32")):
    for i in range(128):
        with T.block("B"):
            vi = T.axis.spatial(128, i)
            B[vi] = A[vi] * T.float32(2)
