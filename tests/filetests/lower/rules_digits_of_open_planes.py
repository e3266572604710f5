# test: lower
# target: gpu
# run: default rules
# Vectors of 4 reach over rows and planes of open sizes. Their elements are neighbours still: the indices are those of one long row.

@T.prim_func
def open(x: T.handle, y: T.handle):
    n, h, w = T.int64(), T.int64(), T.int64()
    X = T.match_buffer(x, (n, 64, h, w), "float32")
    Y = T.match_buffer(y, (n, 64, h, w), "float32")
    for a, b, c, d in T.grid(n, 64, h, w):
        with T.block("relu"):
            va, vb, vc, vd = T.axis.remap("SSSS", [a, b, c, d])
            Y[va, vb, vc, vd] = T.max(X[va, vb, vc, vd], T.float32(0))
# expect-listing:
# func open(n, h, w)
#   param 0 x: float32[n, 64, h, w]
#   param 1 y: float32[n, 64, h, w] written
#   requires (((((((n * h) * w) + 3) // 4) + -1) * 64) + 63) <= 2147483647 (`(blockIdx.x * 64) + threadIdx.x` in int32, in which GPUs compute indices)
#   requires max((min((min((n * h), (n * h)) * w), (max((n * h), (n * h)) * w)) * 16), (max((min((n * h), (n * h)) * w), (max((n * h), (n * h)) * w)) * 16)) <= 2147483647 (`((n * h) * w) * 16` in int32, in which GPUs compute indices)
#   requires (-1 - min((min((min((n * h), (n * h)) * w), (max((n * h), (n * h)) * w)) * 16), (max((min((n * h), (n * h)) * w), (max((n * h), (n * h)) * w)) * 16))) <= 2147483647 (`((n * h) * w) * 16` in int32, in which GPUs compute indices)
#   requires (((n * 64) * h) * w) <= 2147483647 (index into X fits i32)
#
# kernel open  # relu
#   launch grid [(((n * h) * w) + 3) // 4, 1, 1] block [64, 1, 1]
#   scalar n: int32 = n
#   scalar h: int32 = h
#   scalar w: int32 = w
#   array X: float32x4, ((n * 64) * h) * w elements, global read param 0
#   array Y: float32x4, ((n * 64) * h) * w elements, global write param 1
#   cost 0 + (((n * 64) * h) * w) flop, (0 + ((((n * 64) * h) * w) * 4)) + ((((n * 64) * h) * w) * 4) bytes; accesses proved
#   if ((blockIdx.x * 64) + threadIdx.x) < (((n * h) * w) * 16):
#     Y[(blockIdx.x * 256) + (threadIdx.x * 4)] = max(X[(blockIdx.x * 256) + (threadIdx.x * 4) : 4], splat4(0.0))
