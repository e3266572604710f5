# test: lower
# target: cpu
# run: default rules
# A kernel of its own for each channel: the image of a channel is padded in an array of the thread. Registers of 128 bits hold the sums of one row.

@T.prim_func
def depthwise(X: T.Buffer((64, 2, 16), "float32"), W: T.Buffer((64, 3, 3), "float32"), B: T.Buffer((64,), "float32"), Y: T.Buffer((64, 2, 16), "float32")):
    P = T.alloc_buffer((64, 4, 18), "float32")
    C = T.alloc_buffer((64, 2, 16), "float32")
    for c, y, x in T.grid(64, 4, 18):
        with T.block("P"):
            vc, vy, vx = T.axis.remap("SSS", [c, y, x])
            P[vc, vy, vx] = T.if_then_else(vy >= 1 and vy < 3 and vx >= 1 and vx < 17, X[vc, vy - 1, vx - 1], T.float32(0))
    for c, y, x, r, s in T.grid(64, 2, 16, 3, 3):
        with T.block("C"):
            vc, vy, vx, vr, vs = T.axis.remap("SSSRR", [c, y, x, r, s])
            with T.init():
                C[vc, vy, vx] = T.float32(0)
            C[vc, vy, vx] = C[vc, vy, vx] + P[vc, vy + vr, vx + vs] * W[vc, vr, vs]
    for c, y, x in T.grid(64, 2, 16):
        with T.block("Y"):
            vc, vy, vx = T.axis.remap("SSS", [c, y, x])
            Y[vc, vy, vx] = T.max(C[vc, vy, vx] + B[vc], T.float32(0))

# expect-listing:
# func depthwise()
#   param 0 X: float32[64, 2, 16]
#   param 1 W: float32[64, 3, 3]
#   param 2 B: float32[64]
#   param 3 Y: float32[64, 2, 16] written
#
# kernel depthwise  # P_pad_const, P, C_init, C_update, C_local
#   array X: float32, 2048 elements, global read param 0
#   array W: float32, 576 elements, global read param 1
#   array B: float32, 64 elements, global read param 2
#   array Y: float32, 2048 elements, global write param 3
#   array P_local: float32, 128 elements, local
#   array C_local: float32, 16 elements, local
#   cost 40960 flop, 18944 bytes; accesses proved
#   parallel for c from 0, 64 times:
#     for ax1.1 from 0, 4 times:
#       for ax2_0 from 0, 2 times:
#         P_local[(ax1.1 * 32) + (ax2_0 * 16)] = splat16(0.0)
#     for ax1.3 from 0, 2 times:
#       P_local[(ax1.3 * 32) + 33] = X[(c * 32) + (ax1.3 * 16) : 16]
#     for y_0 from 0, 2 times:
#       C_local[0] = splat16(0.0)
#       C_local[0] = C_local[0 : 16] + (P_local[y_0 * 32 : 16] * splat16(W[c * 9]))
#       C_local[0] = C_local[0 : 16] + (P_local[(y_0 * 32) + 32 : 16] * splat16(W[(c * 9) + 3]))
#       C_local[0] = C_local[0 : 16] + (P_local[(y_0 * 32) + 64 : 16] * splat16(W[(c * 9) + 6]))
#       C_local[0] = C_local[0 : 16] + (P_local[(y_0 * 32) + 1 : 16] * splat16(W[(c * 9) + 1]))
#       C_local[0] = C_local[0 : 16] + (P_local[(y_0 * 32) + 33 : 16] * splat16(W[(c * 9) + 4]))
#       C_local[0] = C_local[0 : 16] + (P_local[(y_0 * 32) + 65 : 16] * splat16(W[(c * 9) + 7]))
#       C_local[0] = C_local[0 : 16] + (P_local[(y_0 * 32) + 2 : 16] * splat16(W[(c * 9) + 2]))
#       C_local[0] = C_local[0 : 16] + (P_local[(y_0 * 32) + 34 : 16] * splat16(W[(c * 9) + 5]))
#       C_local[0] = C_local[0 : 16] + (P_local[(y_0 * 32) + 66 : 16] * splat16(W[(c * 9) + 8]))
#       Y[(c * 32) + (y_0 * 16)] = max((C_local[0 : 16] + splat16(B[c])), splat16(0.0))
