# test: lower
# target: gpu
# Each tensor of a kernel is a storage buffer. The kernel uses nine of them, and the device has eight.

@T.prim_func
def sum_of_eight(A: T.Buffer((64,), "float32"), B: T.Buffer((64,), "float32"), C: T.Buffer((64,), "float32"), D: T.Buffer((64,), "float32"), E: T.Buffer((64,), "float32"), F: T.Buffer((64,), "float32"), G: T.Buffer((64,), "float32"), H: T.Buffer((64,), "float32"), Y: T.Buffer((64,), "float32")):
    for t in T.thread_binding(64, "threadIdx.x"):
        with T.block("Y"):
            v = T.axis.spatial(64, t)
            Y[v] = A[v] + B[v] + C[v] + D[v] + E[v] + F[v] + G[v] + H[v]
# expect-error:
# error: `sum_of_eight`: needs 9 storage buffers (one for each tensor that a kernel reads or writes), the device has 8
#   --> sum_of_eight:6:5
#   |
# 6 |     for t in T.thread_binding(64, thread="threadIdx.x"):
#   |     ^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^ loop `t`
