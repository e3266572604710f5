# test: lower
# target: gpu
# A call decides the lengths of X, Y and Z. A launch checks that each length fits int32. X and Y have the same length, and one check
# is enough for both.

@T.prim_func
def rows(x: T.handle, y: T.handle, z: T.handle, W: T.Buffer((64,), "float32")):
    n, m = T.int64(), T.int64()
    X = T.match_buffer(x, (n, 64), "float32")
    Y = T.match_buffer(y, (n, 64), "float32")
    Z = T.match_buffer(z, (m,), "float32")
    for b in T.thread_binding(n, "blockIdx.x"):
        for t in T.thread_binding(64, "threadIdx.x"):
            with T.block("Y"):
                vb, vt = T.axis.remap("SS", [b, t])
                Y[vb, vt] = X[vb, vt] + Z[0] + W[vt]
# expect-listing:
# func rows(n, m)
#   param 0 x: float32[n, 64]
#   param 1 y: float32[n, 64] written
#   param 2 z: float32[m]
#   param 3 W: float32[64]
#   requires (n * 64) <= 2147483647 (index into X fits i32)
#   requires m <= 2147483647 (index into Z fits i32)
#
# kernel rows  # Y
#   launch grid [n, 1, 1] block [64, 1, 1]
#   array X: float32, n * 64 elements, global read param 0
#   array Y: float32, n * 64 elements, global write param 1
#   array Z: float32, m elements, global read param 2
#   array W: float32, 64 elements, global read param 3
#   cost 0 + ((n * 64) * 2) flop, (((0 + ((n * 64) * 4)) + ((n * 64) * 4)) + (m * 4)) + 256 bytes; accesses checked
#   Y[(blockIdx.x * 64) + threadIdx.x] = (X[(blockIdx.x * 64) + threadIdx.x] + Z[0]) + W[threadIdx.x]
