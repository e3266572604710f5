# test: lower
# target: avx2
# run: default rules
# Every second column starts a window, and eight channels read the image: each part of it is copied with its even columns, then its odd ones.

@T.prim_func
def strided(X: T.Buffer((2, 33, 33), "float32"), W: T.Buffer((8, 2, 3, 3), "float32"), Y: T.Buffer((8, 16, 16), "float32")):
    for o, y, x, c, r, s in T.grid(8, 16, 16, 2, 3, 3):
        with T.block("Y"):
            vo, vy, vx, vc, vr, vs = T.axis.remap("SSSRRR", [o, y, x, c, r, s])
            with T.init():
                Y[vo, vy, vx] = T.float32(0)
            Y[vo, vy, vx] = Y[vo, vy, vx] + X[vc, vy * 2 + vr, vx * 2 + vs] * W[vo, vc, vr, vs]
# expect-listing:
# func strided()
#   param 0 X: float32[2, 33, 33]
#   param 1 W: float32[8, 2, 3, 3]
#   param 2 Y: float32[8, 16, 16] written
#
# kernel strided  # X_local, Y_init, Y_update, Y_local
#   array X: float32, 2178 elements, global read param 0
#   array W: float32, 144 elements, global read param 1
#   array Y: float32, 2048 elements, global write param 2
#   array X_local: float32, 340 elements, local
#   array Y_local: float32, 64 elements, local
#   cost 73728 flop, 17480 bytes; accesses proved
#   parallel for y_0_0 from 0, 8 times:
#     for ax0 from 0, 2 times:
#       for ax1 from 0, 5 times:
#         X_local[(ax0 * 170) + (ax1 * 34)] = pack(X[((ax0 * 1089) + (y_0_0 * 132)) + (ax1 * 33)], X[(((ax0 * 1089) + (y_0_0 * 132)) + (ax1 * 33)) + 2], X[(((ax0 * 1089) + (y_0_0 * 132)) + (ax1 * 33)) + 4], X[(((ax0 * 1089) + (y_0_0 * 132)) + (ax1 * 33)) + 6], X[(((ax0 * 1089) + (y_0_0 * 132)) + (ax1 * 33)) + 8], X[(((ax0 * 1089) + (y_0_0 * 132)) + (ax1 * 33)) + 10], X[(((ax0 * 1089) + (y_0_0 * 132)) + (ax1 * 33)) + 12], X[(((ax0 * 1089) + (y_0_0 * 132)) + (ax1 * 33)) + 14], X[(((ax0 * 1089) + (y_0_0 * 132)) + (ax1 * 33)) + 16], X[(((ax0 * 1089) + (y_0_0 * 132)) + (ax1 * 33)) + 18], X[(((ax0 * 1089) + (y_0_0 * 132)) + (ax1 * 33)) + 20], X[(((ax0 * 1089) + (y_0_0 * 132)) + (ax1 * 33)) + 22], X[(((ax0 * 1089) + (y_0_0 * 132)) + (ax1 * 33)) + 24], X[(((ax0 * 1089) + (y_0_0 * 132)) + (ax1 * 33)) + 26], X[(((ax0 * 1089) + (y_0_0 * 132)) + (ax1 * 33)) + 28], X[(((ax0 * 1089) + (y_0_0 * 132)) + (ax1 * 33)) + 30])
#         X_local[((ax0 * 170) + (ax1 * 34)) + 16] = X[(((ax0 * 1089) + (y_0_0 * 132)) + (ax1 * 33)) + 32]
#         X_local[((ax0 * 170) + (ax1 * 34)) + 17] = pack(X[(((ax0 * 1089) + (y_0_0 * 132)) + (ax1 * 33)) + 1], X[(((ax0 * 1089) + (y_0_0 * 132)) + (ax1 * 33)) + 3], X[(((ax0 * 1089) + (y_0_0 * 132)) + (ax1 * 33)) + 5], X[(((ax0 * 1089) + (y_0_0 * 132)) + (ax1 * 33)) + 7], X[(((ax0 * 1089) + (y_0_0 * 132)) + (ax1 * 33)) + 9], X[(((ax0 * 1089) + (y_0_0 * 132)) + (ax1 * 33)) + 11], X[(((ax0 * 1089) + (y_0_0 * 132)) + (ax1 * 33)) + 13], X[(((ax0 * 1089) + (y_0_0 * 132)) + (ax1 * 33)) + 15], X[(((ax0 * 1089) + (y_0_0 * 132)) + (ax1 * 33)) + 17], X[(((ax0 * 1089) + (y_0_0 * 132)) + (ax1 * 33)) + 19], X[(((ax0 * 1089) + (y_0_0 * 132)) + (ax1 * 33)) + 21], X[(((ax0 * 1089) + (y_0_0 * 132)) + (ax1 * 33)) + 23], X[(((ax0 * 1089) + (y_0_0 * 132)) + (ax1 * 33)) + 25], X[(((ax0 * 1089) + (y_0_0 * 132)) + (ax1 * 33)) + 27], X[(((ax0 * 1089) + (y_0_0 * 132)) + (ax1 * 33)) + 29], X[(((ax0 * 1089) + (y_0_0 * 132)) + (ax1 * 33)) + 31])
#     for o_0 from 0, 4 times:
#       Y_local[0] = splat16(0.0)
#       Y_local[16] = splat16(0.0)
#       Y_local[32] = splat16(0.0)
#       Y_local[48] = splat16(0.0)
#       for c from 0, 2 times:
#         Y_local[0] = Y_local[0 : 16] + (X_local[c * 170 : 16] * splat16(W[(o_0 * 36) + (c * 9)]))
#         Y_local[16] = Y_local[16 : 16] + (X_local[(c * 170) + 68 : 16] * splat16(W[(o_0 * 36) + (c * 9)]))
#         Y_local[32] = Y_local[32 : 16] + (X_local[c * 170 : 16] * splat16(W[((o_0 * 36) + (c * 9)) + 18]))
#         Y_local[48] = Y_local[48 : 16] + (X_local[(c * 170) + 68 : 16] * splat16(W[((o_0 * 36) + (c * 9)) + 18]))
#         Y_local[0] = Y_local[0 : 16] + (X_local[(c * 170) + 34 : 16] * splat16(W[((o_0 * 36) + (c * 9)) + 3]))
#         Y_local[16] = Y_local[16 : 16] + (X_local[(c * 170) + 102 : 16] * splat16(W[((o_0 * 36) + (c * 9)) + 3]))
#         Y_local[32] = Y_local[32 : 16] + (X_local[(c * 170) + 34 : 16] * splat16(W[((o_0 * 36) + (c * 9)) + 21]))
#         Y_local[48] = Y_local[48 : 16] + (X_local[(c * 170) + 102 : 16] * splat16(W[((o_0 * 36) + (c * 9)) + 21]))
#         Y_local[0] = Y_local[0 : 16] + (X_local[(c * 170) + 68 : 16] * splat16(W[((o_0 * 36) + (c * 9)) + 6]))
#         Y_local[16] = Y_local[16 : 16] + (X_local[(c * 170) + 136 : 16] * splat16(W[((o_0 * 36) + (c * 9)) + 6]))
#         Y_local[32] = Y_local[32 : 16] + (X_local[(c * 170) + 68 : 16] * splat16(W[((o_0 * 36) + (c * 9)) + 24]))
#         Y_local[48] = Y_local[48 : 16] + (X_local[(c * 170) + 136 : 16] * splat16(W[((o_0 * 36) + (c * 9)) + 24]))
#         Y_local[0] = Y_local[0 : 16] + (X_local[(c * 170) + 17 : 16] * splat16(W[((o_0 * 36) + (c * 9)) + 1]))
#         Y_local[16] = Y_local[16 : 16] + (X_local[(c * 170) + 85 : 16] * splat16(W[((o_0 * 36) + (c * 9)) + 1]))
#         Y_local[32] = Y_local[32 : 16] + (X_local[(c * 170) + 17 : 16] * splat16(W[((o_0 * 36) + (c * 9)) + 19]))
#         Y_local[48] = Y_local[48 : 16] + (X_local[(c * 170) + 85 : 16] * splat16(W[((o_0 * 36) + (c * 9)) + 19]))
#         Y_local[0] = Y_local[0 : 16] + (X_local[(c * 170) + 51 : 16] * splat16(W[((o_0 * 36) + (c * 9)) + 4]))
#         Y_local[16] = Y_local[16 : 16] + (X_local[(c * 170) + 119 : 16] * splat16(W[((o_0 * 36) + (c * 9)) + 4]))
#         Y_local[32] = Y_local[32 : 16] + (X_local[(c * 170) + 51 : 16] * splat16(W[((o_0 * 36) + (c * 9)) + 22]))
#         Y_local[48] = Y_local[48 : 16] + (X_local[(c * 170) + 119 : 16] * splat16(W[((o_0 * 36) + (c * 9)) + 22]))
#         Y_local[0] = Y_local[0 : 16] + (X_local[(c * 170) + 85 : 16] * splat16(W[((o_0 * 36) + (c * 9)) + 7]))
#         Y_local[16] = Y_local[16 : 16] + (X_local[(c * 170) + 153 : 16] * splat16(W[((o_0 * 36) + (c * 9)) + 7]))
#         Y_local[32] = Y_local[32 : 16] + (X_local[(c * 170) + 85 : 16] * splat16(W[((o_0 * 36) + (c * 9)) + 25]))
#         Y_local[48] = Y_local[48 : 16] + (X_local[(c * 170) + 153 : 16] * splat16(W[((o_0 * 36) + (c * 9)) + 25]))
#         Y_local[0] = Y_local[0 : 16] + (X_local[(c * 170) + 1 : 16] * splat16(W[((o_0 * 36) + (c * 9)) + 2]))
#         Y_local[16] = Y_local[16 : 16] + (X_local[(c * 170) + 69 : 16] * splat16(W[((o_0 * 36) + (c * 9)) + 2]))
#         Y_local[32] = Y_local[32 : 16] + (X_local[(c * 170) + 1 : 16] * splat16(W[((o_0 * 36) + (c * 9)) + 20]))
#         Y_local[48] = Y_local[48 : 16] + (X_local[(c * 170) + 69 : 16] * splat16(W[((o_0 * 36) + (c * 9)) + 20]))
#         Y_local[0] = Y_local[0 : 16] + (X_local[(c * 170) + 35 : 16] * splat16(W[((o_0 * 36) + (c * 9)) + 5]))
#         Y_local[16] = Y_local[16 : 16] + (X_local[(c * 170) + 103 : 16] * splat16(W[((o_0 * 36) + (c * 9)) + 5]))
#         Y_local[32] = Y_local[32 : 16] + (X_local[(c * 170) + 35 : 16] * splat16(W[((o_0 * 36) + (c * 9)) + 23]))
#         Y_local[48] = Y_local[48 : 16] + (X_local[(c * 170) + 103 : 16] * splat16(W[((o_0 * 36) + (c * 9)) + 23]))
#         Y_local[0] = Y_local[0 : 16] + (X_local[(c * 170) + 69 : 16] * splat16(W[((o_0 * 36) + (c * 9)) + 8]))
#         Y_local[16] = Y_local[16 : 16] + (X_local[(c * 170) + 137 : 16] * splat16(W[((o_0 * 36) + (c * 9)) + 8]))
#         Y_local[32] = Y_local[32 : 16] + (X_local[(c * 170) + 69 : 16] * splat16(W[((o_0 * 36) + (c * 9)) + 26]))
#         Y_local[48] = Y_local[48 : 16] + (X_local[(c * 170) + 137 : 16] * splat16(W[((o_0 * 36) + (c * 9)) + 26]))
#       Y[(o_0 * 512) + (y_0_0 * 32)] = Y_local[0 : 16]
#       Y[((o_0 * 512) + (y_0_0 * 32)) + 16] = Y_local[16 : 16]
#       Y[((o_0 * 512) + (y_0_0 * 32)) + 256] = Y_local[32 : 16]
#       Y[((o_0 * 512) + (y_0_0 * 32)) + 272] = Y_local[48 : 16]
