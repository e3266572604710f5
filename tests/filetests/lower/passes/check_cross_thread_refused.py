# test: lower
# target: gpu
# Thread t loads the element that thread 7 - t stores. S is in device memory, because two kernels access it. No barrier orders
# accesses of threads to device memory.

@T.prim_func
def mirrored(X: T.Buffer((8,), "float32"), Y: T.Buffer((8,), "float32"), Z: T.Buffer((8,), "float32")):
    S = T.alloc_buffer((8,), "float32")
    for t in T.thread_binding(8, "threadIdx.x"):
        with T.block("S"):
            v = T.axis.spatial(8, t)
            S[v] = X[v] * T.float32(2)
        with T.block("Y"):
            v = T.axis.spatial(8, t)
            Y[v] = S[7 - v]
    for t in T.thread_binding(8, "threadIdx.x"):
        with T.block("Z"):
            v = T.axis.spatial(8, t)
            Z[v] = S[v]
# expect-error:
# error: `mirrored`: threads of one kernel communicate through `S` in device memory, where none waits for the others
#   --> mirrored:7:5
#   |
# 7 |     for t in T.thread_binding(8, thread="threadIdx.x"):
#   |     ^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^ loop `t`
