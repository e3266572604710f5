# test: lower
# target: gpu
# run: default rules
# Channels last are vectors of four; windows of two by two do not overlap.

@T.prim_func
def max_pool(X: T.Buffer((64, 64, 32), "float32"), Y: T.Buffer((32, 32, 32), "float32")):
    for y, x, c, r, s in T.grid(32, 32, 32, 2, 2):
        with T.block("Y"):
            vy, vx, vc, vr, vs = T.axis.remap("SSSRR", [y, x, c, r, s])
            with T.init():
                Y[vy, vx, vc] = T.min_value("float32")
            Y[vy, vx, vc] = T.max(Y[vy, vx, vc], X[vy * 2 + vr, vx * 2 + vs, vc])

# expect-listing:
# func max_pool()
#   param 0 X: float32[64, 64, 32]
#   param 1 Y: float32[32, 32, 32] written
#
# kernel max_pool  # Y_init, X_local, Y_update, Y_local
#   launch grid [128, 1, 1] block [64, 1, 1]
#   array X: float32x4, 131072 elements, global read param 0
#   array Y: float32x4, 32768 elements, global write param 1
#   array Y_local: float32x4, 4 elements, local
#   array X_local: float32x4, 8 elements, local
#   cost 131072 flop, 655360 bytes; accesses proved
#   Y_local[0] = splat4(-3.4028234663852886e38)
#   X_local[0] = X[((((blockIdx.x >> 2) * 4096) + ((blockIdx.x & 3) * 512)) + ((threadIdx.x >> 3) * 64)) + ((threadIdx.x & 7) * 4) : 4]
#   X_local[4] = X[(((((blockIdx.x >> 2) * 4096) + ((blockIdx.x & 3) * 512)) + ((threadIdx.x >> 3) * 64)) + ((threadIdx.x & 7) * 4)) + 32 : 4]
#   Y_local[0] = max(Y_local[0 : 4], X_local[0 : 4])
#   Y_local[0] = max(Y_local[0 : 4], X_local[4 : 4])
#   X_local[0] = X[(((((blockIdx.x >> 2) * 4096) + ((blockIdx.x & 3) * 512)) + ((threadIdx.x >> 3) * 64)) + ((threadIdx.x & 7) * 4)) + 2048 : 4]
#   X_local[4] = X[(((((blockIdx.x >> 2) * 4096) + ((blockIdx.x & 3) * 512)) + ((threadIdx.x >> 3) * 64)) + ((threadIdx.x & 7) * 4)) + 2080 : 4]
#   Y_local[0] = max(Y_local[0 : 4], X_local[0 : 4])
#   Y_local[0] = max(Y_local[0 : 4], X_local[4 : 4])
#   Y[(blockIdx.x * 256) + (threadIdx.x * 4)] = Y_local[0 : 4]
