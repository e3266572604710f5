# test: lower
# target: gpu
# GPUs compute indices in int32. The sum that is divided must fit int32, and a launch checks its greatest value. The index of Y is
# not divided: for it, a launch checks the length of Y alone.

@T.prim_func
def spread(x: T.handle, y: T.handle):
    n = T.int64()
    X = T.match_buffer(x, (n,), "float32")
    Y = T.match_buffer(y, (2 * n,), "float32")
    for b in T.thread_binding(n, "blockIdx.x"):
        for t in T.thread_binding(2, "threadIdx.x"):
            with T.block("Y"):
                vb, vt = T.axis.remap("SS", [b, t])
                Y[vb * 2 + vt] = X[(vb * 3 + vt) // 5]
# expect-listing:
# func spread(n)
#   param 0 x: float32[n]
#   param 1 y: float32[(2 * n)] written
#   requires (((n + -1) * 3) + 1) <= 2147483647 (`(blockIdx.x * 3) + threadIdx.x` in int32, in which GPUs compute indices)
#   requires n <= 2147483647 (index into X fits i32)
#   requires (2 * n) <= 2147483647 (index into Y fits i32)
#
# kernel spread  # Y
#   launch grid [n, 1, 1] block [2, 1, 1]
#   array X: float32, n elements, global read param 0
#   array Y: float32, 2 * n elements, global write param 1
#   cost 0 flop, (0 + (n * 4)) + ((2 * n) * 4) bytes; accesses proved
#   Y[(blockIdx.x * 2) + threadIdx.x] = X[int32(uint32((blockIdx.x * 3) + threadIdx.x) / uint32(5))]
