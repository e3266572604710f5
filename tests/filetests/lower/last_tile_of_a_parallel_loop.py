# test: lower
# target: avx512
# run: default rules
# The last tile, whose vectors are masked, is a branch of the parallel loop. As a loop after it, it would share the array of the thread, and
# all would run on one thread.

@T.prim_func
def pointwise(X: T.Buffer((1, 3, 28, 28), "float32"), W: T.Buffer((4, 3), "float32"), Y: T.Buffer((1, 4, 28, 28), "float32")):
    for n, o, y, x, c in T.grid(1, 4, 28, 28, 3):
        with T.block("Y"):
            vn, vo, vy, vx, vc = T.axis.remap("SSSSR", [n, o, y, x, c])
            with T.init():
                Y[vn, vo, vy, vx] = T.float32(0)
            Y[vn, vo, vy, vx] = Y[vn, vo, vy, vx] + X[vn, vc, vy, vx] * W[vo, vc]
# expect-listing:
# func pointwise()
#   param 0 X: float32[1, 3, 28, 28]
#   param 1 W: float32[4, 3]
#   param 2 Y: float32[1, 4, 28, 28] written
#
# kernel pointwise  # Y_init, Y_update, Y_local
#   array X: float32, 2352 elements, global read param 0
#   array W: float32, 12 elements, global read param 1
#   array Y: float32, 3136 elements, global write param 2
#   array Y_local: float32, 128 elements, local
#   cost 18816 flop, 22000 bytes; accesses proved
#   parallel for ax1_0 from 0, 25 times:
#     if ax1_0 < 24:
#       Y_local[0] = splat16(0.0)
#       Y_local[16] = splat16(0.0)
#       Y_local[32] = splat16(0.0)
#       Y_local[48] = splat16(0.0)
#       Y_local[64] = splat16(0.0)
#       Y_local[80] = splat16(0.0)
#       Y_local[96] = splat16(0.0)
#       Y_local[112] = splat16(0.0)
#       for ax2.1 from 0, 3 times:
#         Y_local[0] = Y_local[0 : 16] + (X[(ax2.1 * 784) + (ax1_0 * 32) : 16] * splat16(W[ax2.1]))
#         Y_local[16] = Y_local[16 : 16] + (X[((ax2.1 * 784) + (ax1_0 * 32)) + 16 : 16] * splat16(W[ax2.1]))
#         Y_local[32] = Y_local[32 : 16] + (X[(ax2.1 * 784) + (ax1_0 * 32) : 16] * splat16(W[ax2.1 + 3]))
#         Y_local[48] = Y_local[48 : 16] + (X[((ax2.1 * 784) + (ax1_0 * 32)) + 16 : 16] * splat16(W[ax2.1 + 3]))
#         Y_local[64] = Y_local[64 : 16] + (X[(ax2.1 * 784) + (ax1_0 * 32) : 16] * splat16(W[ax2.1 + 6]))
#         Y_local[80] = Y_local[80 : 16] + (X[((ax2.1 * 784) + (ax1_0 * 32)) + 16 : 16] * splat16(W[ax2.1 + 6]))
#         Y_local[96] = Y_local[96 : 16] + (X[(ax2.1 * 784) + (ax1_0 * 32) : 16] * splat16(W[ax2.1 + 9]))
#         Y_local[112] = Y_local[112 : 16] + (X[((ax2.1 * 784) + (ax1_0 * 32)) + 16 : 16] * splat16(W[ax2.1 + 9]))
#       Y[ax1_0 * 32] = Y_local[0 : 16]
#       Y[(ax1_0 * 32) + 16] = Y_local[16 : 16]
#       Y[(ax1_0 * 32) + 784] = Y_local[32 : 16]
#       Y[(ax1_0 * 32) + 800] = Y_local[48 : 16]
#       Y[(ax1_0 * 32) + 1568] = Y_local[64 : 16]
#       Y[(ax1_0 * 32) + 1584] = Y_local[80 : 16]
#       Y[(ax1_0 * 32) + 2352] = Y_local[96 : 16]
#       Y[(ax1_0 * 32) + 2368] = Y_local[112 : 16]
#     else:
#       Y_local[0] = splat16(0.0)
#       Y_local[16] = splat16(0.0)
#       Y_local[32] = splat16(0.0)
#       Y_local[48] = splat16(0.0)
#       Y_local[64] = splat16(0.0)
#       Y_local[80] = splat16(0.0)
#       Y_local[96] = splat16(0.0)
#       Y_local[112] = splat16(0.0)
#       for ax2.2 from 0, 3 times:
#         Y_local[0] = Y_local[0 : 16] + (X[(ax2.2 * 784) + 768 : 16] * splat16(W[ax2.2]))
#         Y_local[16] = Y_local[16 : 16] + (X[(ax2.2 * 784) + 784 : 16, first 0] * splat16(W[ax2.2]))
#         Y_local[32] = Y_local[32 : 16] + (X[(ax2.2 * 784) + 768 : 16] * splat16(W[ax2.2 + 3]))
#         Y_local[48] = Y_local[48 : 16] + (X[(ax2.2 * 784) + 784 : 16, first 0] * splat16(W[ax2.2 + 3]))
#         Y_local[64] = Y_local[64 : 16] + (X[(ax2.2 * 784) + 768 : 16] * splat16(W[ax2.2 + 6]))
#         Y_local[80] = Y_local[80 : 16] + (X[(ax2.2 * 784) + 784 : 16, first 0] * splat16(W[ax2.2 + 6]))
#         Y_local[96] = Y_local[96 : 16] + (X[(ax2.2 * 784) + 768 : 16] * splat16(W[ax2.2 + 9]))
#         Y_local[112] = Y_local[112 : 16] + (X[(ax2.2 * 784) + 784 : 16, first 0] * splat16(W[ax2.2 + 9]))
#       Y[768] = Y_local[0 : 16]
#       Y[1552] = Y_local[32 : 16]
#       Y[2336] = Y_local[64 : 16]
#       Y[3120] = Y_local[96 : 16]
