# test: sched
# run: bind(loop("B", 0), "blockIdx.x")
# run: bind(loop("B", 1), "threadIdx.x")
@T.prim_func
def before(A: T.Buffer((16, 24), "float32"), B: T.Buffer((16, 24), "float32")):
    for i, j in T.grid(16, 24):
        with T.block("B"):
            vi, vj = T.axis.remap("SS", [i, j])
            B[vi, vj] = A[vi, vj] + T.float32(1)
