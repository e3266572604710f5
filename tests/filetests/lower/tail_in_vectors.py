# test: lower
# target: gpu
# The last vector of an array may reach into its padding, so it needs no code of its own.

@T.prim_func
def scale(x: T.handle, y: T.handle):
    n = T.int64()
    X = T.match_buffer(x, (n,), "float32")
    Y = T.match_buffer(y, (n,), "float32")
    for b in T.thread_binding((n + 255) // 256, "blockIdx.x"):
        for t in T.thread_binding(64, "threadIdx.x"):
            for v in T.vectorized(4):
                with T.block("Y"):
                    vi = T.axis.spatial(n, b * 256 + t * 4 + v)
                    T.where(b * 256 + t * 4 + v < n)
                    Y[vi] = X[vi] * T.float32(2)

# expect-listing:
# func scale(n)
#   param 0 x: float32[n]
#   param 1 y: float32[n] written
#   requires n <= 2147483647 (index into X fits i32)
#
# kernel scale  # Y
#   launch grid [(n + 255) // 256, 1, 1] block [64, 1, 1]
#   scalar n: int32 = n
#   array X: float32x4, n elements, global read param 0
#   array Y: float32x4, n elements, global write param 1
#   cost 0 + n flop, (0 + (n * 4)) + (n * 4) bytes; accesses proved
#   if ((blockIdx.x * 256) + (threadIdx.x * 4)) < n:
#     Y[(blockIdx.x * 256) + (threadIdx.x * 4)] = X[(blockIdx.x * 256) + (threadIdx.x * 4) : 4] * splat4(2.0)
