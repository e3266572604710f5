# test: sched
# run: cache_write(block("S"), 0, "local")
@T.prim_func
def before(A: T.Buffer((12, 20), "float32"), S: T.Buffer((12,), "float32"), Y: T.Buffer((12, 20), "float32")):
    for i in range(12):
        for k in range(20):
            with T.block("S"):
                vi, vk = T.axis.remap("SR", [i, k])
                with T.init():
                    S[vi] = T.float32(0)
                S[vi] = S[vi] + A[vi, vk]
        for j in range(20):
            with T.block("Y"):
                vi, vj = T.axis.remap("SS", [i, j])
                Y[vi, vj] = A[vi, vj] - S[vi]
