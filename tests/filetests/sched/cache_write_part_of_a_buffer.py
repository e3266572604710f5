# test: sched
# run: cache_write(block("B"), 0, "local")
@T.prim_func
def before(A: T.Buffer((24,), "float32"), B: T.Buffer((24,), "float32")):
    for i in range(4, 20):
        with T.block("B"):
            vi = T.axis.spatial((4, 20), i)
            B[vi] = A[vi] * T.float32(2)
