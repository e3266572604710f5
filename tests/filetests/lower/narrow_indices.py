# test: lower
# target: gpu
# Indices are int32 on a GPU; what is divided must fit, which the launch checks.

@T.prim_func
def reshape(x: T.handle, y: T.handle):
    n, m = T.int64(), T.int64()
    X = T.match_buffer(x, (n, m), "float32")
    Y = T.match_buffer(y, (n * m,), "float32")
    for b in T.thread_binding((n * m + 63) // 64, "blockIdx.x"):
        for t in T.thread_binding(64, "threadIdx.x"):
            with T.block("Y"):
                vi = T.axis.spatial(n * m, b * 64 + t)
                T.where(b * 64 + t < n * m)
                Y[vi] = X[vi // m, vi % m]

# expect-listing:
# func reshape(n, m)
#   param 0 x: float32[n, m]
#   param 1 y: float32[(n * m)] written
#   requires ((((((n * m) + 63) // 64) + -1) * 64) + 63) <= 2147483647 (`(blockIdx.x * 64) + threadIdx.x` in int32, in which GPUs compute indices)
#   requires max((n * m), (n * m)) <= 2147483647 (`n * m` in int32, in which GPUs compute indices)
#   requires (-1 - min((n * m), (n * m))) <= 2147483647 (`n * m` in int32, in which GPUs compute indices)
#   requires (n * m) <= 2147483647 (index into X fits i32)
#
# kernel reshape  # Y
#   launch grid [((n * m) + 63) // 64, 1, 1] block [64, 1, 1]
#   scalar n: int32 = n
#   scalar m: int32 = m
#   array X: float32, n * m elements, global read param 0
#   array Y: float32, n * m elements, global write param 1
#   cost 0 flop, (0 + ((n * m) * 4)) + ((n * m) * 4) bytes; accesses proved
#   if ((blockIdx.x * 64) + threadIdx.x) < (n * m):
#     Y[(blockIdx.x * 64) + threadIdx.x] = X[(blockIdx.x * 64) + threadIdx.x]
