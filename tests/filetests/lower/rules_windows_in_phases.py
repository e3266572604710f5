# test: lower
# target: cpu
# run: default rules
# Every second column starts a window: rows of the padded image lie as even columns and odd ones, so that vectors load neighbours. There are 35
# columns, of which no phase has a last odd one: nobody writes it, so the array still is that of one channel.

@T.prim_func
def strided(X: T.Buffer((64, 3, 33), "float32"), W: T.Buffer((64, 3, 3), "float32"), Y: T.Buffer((64, 2, 17), "float32")):
    P = T.alloc_buffer((64, 5, 35), "float32")
    for c, y, x in T.grid(64, 5, 35):
        with T.block("P"):
            vc, vy, vx = T.axis.remap("SSS", [c, y, x])
            P[vc, vy, vx] = T.if_then_else(vy >= 1 and vy < 4 and vx >= 1 and vx < 34, X[vc, vy - 1, vx - 1], T.float32(0))
    for c, y, x, r, s in T.grid(64, 2, 17, 3, 3):
        with T.block("Y"):
            vc, vy, vx, vr, vs = T.axis.remap("SSSRR", [c, y, x, r, s])
            with T.init():
                Y[vc, vy, vx] = T.float32(0)
            Y[vc, vy, vx] = Y[vc, vy, vx] + P[vc, vy * 2 + vr, vx * 2 + vs] * W[vc, vr, vs]
# expect-listing:
# func strided()
#   param 0 X: float32[64, 3, 33]
#   param 1 W: float32[64, 3, 3]
#   param 2 Y: float32[64, 2, 17] written
#
# kernel strided  # P_pad_const, P, Y_init, Y_update, Y_local
#   array X: float32, 6336 elements, global read param 0
#   array W: float32, 576 elements, global read param 1
#   array Y: float32, 2176 elements, global write param 2
#   array P_local: float32, 320 elements, local
#   array Y_local: float32x4, 8 elements, local
#   cost 39168 flop, 36352 bytes; accesses proved
#   parallel for c from 0, 64 times:
#     for ax1.1 from 0, 5 times:
#       P_local[ax1.1 * 64] = splat16(0.0)
#       P_local[(ax1.1 * 64) + 16 : 16, first 2] = splat16(0.0)
#       P_local[(ax1.1 * 64) + 32] = splat16(0.0)
#       P_local[(ax1.1 * 64) + 48] = 0.0
#     for ax1.2 from 0, 3 times:
#       P_local[(ax1.2 * 64) + 96] = pack(X[(c * 99) + (ax1.2 * 33)], X[((c * 99) + (ax1.2 * 33)) + 2], X[((c * 99) + (ax1.2 * 33)) + 4], X[((c * 99) + (ax1.2 * 33)) + 6], X[((c * 99) + (ax1.2 * 33)) + 8], X[((c * 99) + (ax1.2 * 33)) + 10], X[((c * 99) + (ax1.2 * 33)) + 12], X[((c * 99) + (ax1.2 * 33)) + 14], X[((c * 99) + (ax1.2 * 33)) + 16], X[((c * 99) + (ax1.2 * 33)) + 18], X[((c * 99) + (ax1.2 * 33)) + 20], X[((c * 99) + (ax1.2 * 33)) + 22], X[((c * 99) + (ax1.2 * 33)) + 24], X[((c * 99) + (ax1.2 * 33)) + 26], X[((c * 99) + (ax1.2 * 33)) + 28], X[((c * 99) + (ax1.2 * 33)) + 30])
#       P_local[(((ax1.2 * 64) + (1 * 32)) + 0) + 80] = X[((c * 99) + (ax1.2 * 33)) + 32]
#       P_local[(ax1.2 * 64) + 65] = pack(X[((c * 99) + (ax1.2 * 33)) + 1], X[((c * 99) + (ax1.2 * 33)) + 3], X[((c * 99) + (ax1.2 * 33)) + 5], X[((c * 99) + (ax1.2 * 33)) + 7], X[((c * 99) + (ax1.2 * 33)) + 9], X[((c * 99) + (ax1.2 * 33)) + 11], X[((c * 99) + (ax1.2 * 33)) + 13], X[((c * 99) + (ax1.2 * 33)) + 15], X[((c * 99) + (ax1.2 * 33)) + 17], X[((c * 99) + (ax1.2 * 33)) + 19], X[((c * 99) + (ax1.2 * 33)) + 21], X[((c * 99) + (ax1.2 * 33)) + 23], X[((c * 99) + (ax1.2 * 33)) + 25], X[((c * 99) + (ax1.2 * 33)) + 27], X[((c * 99) + (ax1.2 * 33)) + 29], X[((c * 99) + (ax1.2 * 33)) + 31])
#     for x_0 from 0, 4 times:
#       Y_local[0] = splat4(0.0)
#       Y_local[4] = splat4(0.0)
#       Y_local[0] = Y_local[0 : 4] + (P_local[x_0 * 4 : 4] * splat4(W[c * 9]))
#       Y_local[4] = Y_local[4 : 4] + (P_local[(x_0 * 4) + 128 : 4] * splat4(W[c * 9]))
#       Y_local[0] = Y_local[0 : 4] + (P_local[(x_0 * 4) + 64 : 4] * splat4(W[(c * 9) + 3]))
#       Y_local[4] = Y_local[4 : 4] + (P_local[(x_0 * 4) + 192 : 4] * splat4(W[(c * 9) + 3]))
#       Y_local[0] = Y_local[0 : 4] + (P_local[(x_0 * 4) + 128 : 4] * splat4(W[(c * 9) + 6]))
#       Y_local[4] = Y_local[4 : 4] + (P_local[(x_0 * 4) + 256 : 4] * splat4(W[(c * 9) + 6]))
#       Y_local[0] = Y_local[0 : 4] + (P_local[(x_0 * 4) + 32 : 4] * splat4(W[(c * 9) + 1]))
#       Y_local[4] = Y_local[4 : 4] + (P_local[(x_0 * 4) + 160 : 4] * splat4(W[(c * 9) + 1]))
#       Y_local[0] = Y_local[0 : 4] + (P_local[(x_0 * 4) + 96 : 4] * splat4(W[(c * 9) + 4]))
#       Y_local[4] = Y_local[4 : 4] + (P_local[(x_0 * 4) + 224 : 4] * splat4(W[(c * 9) + 4]))
#       Y_local[0] = Y_local[0 : 4] + (P_local[(x_0 * 4) + 160 : 4] * splat4(W[(c * 9) + 7]))
#       Y_local[4] = Y_local[4 : 4] + (P_local[(x_0 * 4) + 288 : 4] * splat4(W[(c * 9) + 7]))
#       Y_local[0] = Y_local[0 : 4] + (P_local[(x_0 * 4) + 1 : 4] * splat4(W[(c * 9) + 2]))
#       Y_local[4] = Y_local[4 : 4] + (P_local[(x_0 * 4) + 129 : 4] * splat4(W[(c * 9) + 2]))
#       Y_local[0] = Y_local[0 : 4] + (P_local[(x_0 * 4) + 65 : 4] * splat4(W[(c * 9) + 5]))
#       Y_local[4] = Y_local[4 : 4] + (P_local[(x_0 * 4) + 193 : 4] * splat4(W[(c * 9) + 5]))
#       Y_local[0] = Y_local[0 : 4] + (P_local[(x_0 * 4) + 129 : 4] * splat4(W[(c * 9) + 8]))
#       Y_local[4] = Y_local[4 : 4] + (P_local[(x_0 * 4) + 257 : 4] * splat4(W[(c * 9) + 8]))
#       Y[(c * 34) + (x_0 * 4)] = Y_local[0 : 4]
#       Y[((c * 34) + (x_0 * 4)) + 17] = Y_local[4 : 4]
#     Y_local[0] = splat4(0.0)
#     Y_local[4] = splat4(0.0)
#     Y_local[0] = Y_local[0 : 4] + (P_local[16 : 4] * splat4(W[c * 9]))
#     Y_local[4] = Y_local[4 : 4] + (P_local[144 : 4] * splat4(W[c * 9]))
#     Y_local[0] = Y_local[0 : 4] + (P_local[80 : 4] * splat4(W[(c * 9) + 3]))
#     Y_local[4] = Y_local[4 : 4] + (P_local[208 : 4] * splat4(W[(c * 9) + 3]))
#     Y_local[0] = Y_local[0 : 4] + (P_local[144 : 4] * splat4(W[(c * 9) + 6]))
#     Y_local[4] = Y_local[4 : 4] + (P_local[272 : 4] * splat4(W[(c * 9) + 6]))
#     Y_local[0] = Y_local[0 : 4] + (P_local[48 : 4] * splat4(W[(c * 9) + 1]))
#     Y_local[4] = Y_local[4 : 4] + (P_local[176 : 4] * splat4(W[(c * 9) + 1]))
#     Y_local[0] = Y_local[0 : 4] + (P_local[112 : 4] * splat4(W[(c * 9) + 4]))
#     Y_local[4] = Y_local[4 : 4] + (P_local[240 : 4] * splat4(W[(c * 9) + 4]))
#     Y_local[0] = Y_local[0 : 4] + (P_local[176 : 4] * splat4(W[(c * 9) + 7]))
#     Y_local[4] = Y_local[4 : 4] + (P_local[304 : 4] * splat4(W[(c * 9) + 7]))
#     Y_local[0] = Y_local[0 : 4] + (P_local[17 : 4] * splat4(W[(c * 9) + 2]))
#     Y_local[4] = Y_local[4 : 4] + (P_local[145 : 4] * splat4(W[(c * 9) + 2]))
#     Y_local[0] = Y_local[0 : 4] + (P_local[81 : 4] * splat4(W[(c * 9) + 5]))
#     Y_local[4] = Y_local[4 : 4] + (P_local[209 : 4] * splat4(W[(c * 9) + 5]))
#     Y_local[0] = Y_local[0 : 4] + (P_local[145 : 4] * splat4(W[(c * 9) + 8]))
#     Y_local[4] = Y_local[4 : 4] + (P_local[273 : 4] * splat4(W[(c * 9) + 8]))
#     Y[(c * 34) + 16] = Y_local[0]
#     Y[(c * 34) + 33] = Y_local[4]
