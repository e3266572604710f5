# test: lower
# target: gpu
# run: default rules
# A product of two arrays, one of which is read through windows: a thread takes a piece of a row of one channel.

@T.prim_func
def conv2d(X: T.Buffer((1, 3, 10, 10), "float32"), W: T.Buffer((4, 3, 3, 3), "float32"), Y: T.Buffer((1, 4, 8, 8), "float32")):
    for n, o, y, x, c, r, s in T.grid(1, 4, 8, 8, 3, 3, 3):
        with T.block("Y"):
            vn, vo, vy, vx, vc, vr, vs = T.axis.remap("SSSSRRR", [n, o, y, x, c, r, s])
            with T.init():
                Y[vn, vo, vy, vx] = T.float32(0)
            Y[vn, vo, vy, vx] = Y[vn, vo, vy, vx] + X[vn, vc, vy + vr, vx + vs] * W[vo, vc, vr, vs]

# expect-listing:
# func conv2d()
#   param 0 X: float32[1, 3, 10, 10]
#   param 1 W: float32[4, 3, 3, 3]
#   param 2 Y: float32[1, 4, 8, 8] written
#
# kernel conv2d  # Y_init, X_local, W_local, Y_update, Y_local
#   launch grid [1, 4, 1] block [64, 1, 1]
#   array X: float32, 300 elements, global read param 0
#   array W: float32, 108 elements, global read param 1
#   array Y: float32x2, 256 elements, global write param 2
#   array Y_local: float32x2, 2 elements, local
#   array X_local: float32, 4 elements, local
#   array W_local: float32, 3 elements, local
#   cost 13824 flop, 2656 bytes; accesses proved
#   Y_local[0] = splat2(0.0)
#   for c from 0, 3 times:
#     for r from 0, 3 times:
#       X_local[0] = X[((c * 100) + (min((r + (threadIdx.x >> 2)), 9) * 10)) + ((threadIdx.x & 3) * 2) : 4]
#       W_local[0] = W[((blockIdx.y * 27) + (c * 9)) + (r * 3)]
#       W_local[1] = W[(((blockIdx.y * 27) + (c * 9)) + (r * 3)) + 1]
#       W_local[2] = W[(((blockIdx.y * 27) + (c * 9)) + (r * 3)) + 2]
#       Y_local[0] = Y_local[0 : 2] + (X_local[0 : 2] * splat2(W_local[0]))
#       Y_local[0] = Y_local[0 : 2] + (X_local[1 : 2] * splat2(W_local[1]))
#       Y_local[0] = Y_local[0 : 2] + (X_local[2 : 2] * splat2(W_local[2]))
#   if threadIdx.x < 32:
#     Y[(blockIdx.y * 64) + (threadIdx.x * 2)] = Y_local[0 : 2]
