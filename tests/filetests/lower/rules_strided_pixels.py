# test: lower
# target: avx2
# run: default rules
# Every second pixel of every second line, without a window: eight panels read them, so they are copied side by side first.

@T.prim_func
def conv2d(X: T.Buffer((1, 32, 28, 28), "float32"), W: T.Buffer((128, 32, 1, 1), "float32"), Y: T.Buffer((1, 128, 14, 14), "float32")):
    for n, o, y, x, c, r, s in T.grid(1, 128, 14, 14, 32, 1, 1):
        with T.block("Y"):
            vn, vo, vy, vx, vc, vr, vs = T.axis.remap("SSSSRRR", [n, o, y, x, c, r, s])
            with T.init():
                Y[vn, vo, vy, vx] = T.float32(0)
            Y[vn, vo, vy, vx] = Y[vn, vo, vy, vx] + X[vn, vc, vy * 2 + vr, vx * 2 + vs] * W[vo, vc, vr, vs]
# expect-listing:
# func conv2d()
#   param 0 X: float32[1, 32, 28, 28]
#   param 1 W: float32[128, 32, 1, 1]
#   param 2 Y: float32[1, 128, 14, 14] written
#   temp 0 X_global: float32[6272]
#
# kernel conv2d_0  # X_global
#   array X: float32, 25088 elements, global read param 0
#   array X_global: float32, 6272 elements, global write temp 0
#   cost 0 flop, 125440 bytes; accesses proved
#   parallel for ax0_ax1_ax2_ax3_ax4_fused from 0, 448 times:
#     X_global[ax0_ax1_ax2_ax3_ax4_fused * 14] = pack(X[ax0_ax1_ax2_ax3_ax4_fused * 56], X[(ax0_ax1_ax2_ax3_ax4_fused * 56) + 2], X[(ax0_ax1_ax2_ax3_ax4_fused * 56) + 4], X[(ax0_ax1_ax2_ax3_ax4_fused * 56) + 6], X[(ax0_ax1_ax2_ax3_ax4_fused * 56) + 8], X[(ax0_ax1_ax2_ax3_ax4_fused * 56) + 10], X[(ax0_ax1_ax2_ax3_ax4_fused * 56) + 12], X[(ax0_ax1_ax2_ax3_ax4_fused * 56) + 14])
#     X_global[(ax0_ax1_ax2_ax3_ax4_fused * 14) + 8] = pack(X[(ax0_ax1_ax2_ax3_ax4_fused * 56) + 16], X[(ax0_ax1_ax2_ax3_ax4_fused * 56) + 18], X[(ax0_ax1_ax2_ax3_ax4_fused * 56) + 20], X[(ax0_ax1_ax2_ax3_ax4_fused * 56) + 22])
#     X_global[(ax0_ax1_ax2_ax3_ax4_fused * 14) + 12] = pack(X[(ax0_ax1_ax2_ax3_ax4_fused * 56) + 24], X[(ax0_ax1_ax2_ax3_ax4_fused * 56) + 26])
#
# kernel conv2d_1  # W_local, Y_init, Y_update, Y_local_ax0_common, Y_local_ax00_partition, Y_local_ax00, Y_local_ax01_partition, Y_local_ax01
#   array W: float32, 4096 elements, global read param 1
#   array Y: float32, 25088 elements, global write param 2
#   array X_global: float32, 6272 elements, global read temp 0
#   array W_local: float32, 512 elements, local
#   array Y_local: float32, 3136 elements, local
#   array Y_local_cell.5: float32, 16 elements, local
#   array Y_local_cell.6: float32, 16 elements, local
#   array Y_local_cell.7: float32, 16 elements, local
#   array Y_local_cell.8: float32, 16 elements, local
#   cost 1605632 flop, 141824 bytes; accesses proved
#   parallel for ax0_0_ax1_0_fused from 0, 8 times:
#     for ax0 from 0, 16 times:
#       for ax1 from 0, 32 times:
#         W_local[(ax1 * 16) + ax0] = W[((ax0_0_ax1_0_fused * 512) + (ax0 * 32)) + ax1]
#     for ax0_1 from 0, 49 times:
#       Y_local[ax0_1 * 64] = splat16(0.0)
#       Y_local[(ax0_1 * 64) + 16] = splat16(0.0)
#       Y_local[(ax0_1 * 64) + 32] = splat16(0.0)
#       Y_local[(ax0_1 * 64) + 48] = splat16(0.0)
#       Y_local_cell.5[0] = Y_local[ax0_1 * 64 : 16]
#       Y_local_cell.6[0] = Y_local[(ax0_1 * 64) + 16 : 16]
#       Y_local_cell.7[0] = Y_local[(ax0_1 * 64) + 32 : 16]
#       Y_local_cell.8[0] = Y_local[(ax0_1 * 64) + 48 : 16]
#       for ax2_1 from 0, 32 times:
#         Y_local_cell.5[0] = Y_local_cell.5[0 : 16] + (splat16(X_global[(ax2_1 * 196) + (ax0_1 * 4)]) * W_local[ax2_1 * 16 : 16])
#         Y_local_cell.6[0] = Y_local_cell.6[0 : 16] + (splat16(X_global[((ax2_1 * 196) + (ax0_1 * 4)) + 1]) * W_local[ax2_1 * 16 : 16])
#         Y_local_cell.7[0] = Y_local_cell.7[0 : 16] + (splat16(X_global[((ax2_1 * 196) + (ax0_1 * 4)) + 2]) * W_local[ax2_1 * 16 : 16])
#         Y_local_cell.8[0] = Y_local_cell.8[0 : 16] + (splat16(X_global[((ax2_1 * 196) + (ax0_1 * 4)) + 3]) * W_local[ax2_1 * 16 : 16])
#       Y_local[ax0_1 * 64] = Y_local_cell.5[0 : 16]
#       Y_local[(ax0_1 * 64) + 16] = Y_local_cell.6[0 : 16]
#       Y_local[(ax0_1 * 64) + 32] = Y_local_cell.7[0 : 16]
#       Y_local[(ax0_1 * 64) + 48] = Y_local_cell.8[0 : 16]
#     for ax1_0.5 from 0, 2 times:
#       for ax00_0 from 0, 12 times:
#         Y[((ax0_0_ax1_0_fused * 3136) + (ax1_0.5 * 1568)) + (ax00_0 * 16)] = pack(Y_local[(ax00_0 * 256) + (ax1_0.5 * 8)], Y_local[((ax00_0 * 256) + (ax1_0.5 * 8)) + 16], Y_local[((ax00_0 * 256) + (ax1_0.5 * 8)) + 32], Y_local[((ax00_0 * 256) + (ax1_0.5 * 8)) + 48], Y_local[((ax00_0 * 256) + (ax1_0.5 * 8)) + 64], Y_local[((ax00_0 * 256) + (ax1_0.5 * 8)) + 80], Y_local[((ax00_0 * 256) + (ax1_0.5 * 8)) + 96], Y_local[((ax00_0 * 256) + (ax1_0.5 * 8)) + 112], Y_local[((ax00_0 * 256) + (ax1_0.5 * 8)) + 128], Y_local[((ax00_0 * 256) + (ax1_0.5 * 8)) + 144], Y_local[((ax00_0 * 256) + (ax1_0.5 * 8)) + 160], Y_local[((ax00_0 * 256) + (ax1_0.5 * 8)) + 176], Y_local[((ax00_0 * 256) + (ax1_0.5 * 8)) + 192], Y_local[((ax00_0 * 256) + (ax1_0.5 * 8)) + 208], Y_local[((ax00_0 * 256) + (ax1_0.5 * 8)) + 224], Y_local[((ax00_0 * 256) + (ax1_0.5 * 8)) + 240])
#         Y[(((ax0_0_ax1_0_fused * 3136) + (ax1_0.5 * 1568)) + (ax00_0 * 16)) + 196] = pack(Y_local[((ax00_0 * 256) + (ax1_0.5 * 8)) + 1], Y_local[((ax00_0 * 256) + (ax1_0.5 * 8)) + 17], Y_local[((ax00_0 * 256) + (ax1_0.5 * 8)) + 33], Y_local[((ax00_0 * 256) + (ax1_0.5 * 8)) + 49], Y_local[((ax00_0 * 256) + (ax1_0.5 * 8)) + 65], Y_local[((ax00_0 * 256) + (ax1_0.5 * 8)) + 81], Y_local[((ax00_0 * 256) + (ax1_0.5 * 8)) + 97], Y_local[((ax00_0 * 256) + (ax1_0.5 * 8)) + 113], Y_local[((ax00_0 * 256) + (ax1_0.5 * 8)) + 129], Y_local[((ax00_0 * 256) + (ax1_0.5 * 8)) + 145], Y_local[((ax00_0 * 256) + (ax1_0.5 * 8)) + 161], Y_local[((ax00_0 * 256) + (ax1_0.5 * 8)) + 177], Y_local[((ax00_0 * 256) + (ax1_0.5 * 8)) + 193], Y_local[((ax00_0 * 256) + (ax1_0.5 * 8)) + 209], Y_local[((ax00_0 * 256) + (ax1_0.5 * 8)) + 225], Y_local[((ax00_0 * 256) + (ax1_0.5 * 8)) + 241])
#         Y[(((ax0_0_ax1_0_fused * 3136) + (ax1_0.5 * 1568)) + (ax00_0 * 16)) + 392] = pack(Y_local[((ax00_0 * 256) + (ax1_0.5 * 8)) + 2], Y_local[((ax00_0 * 256) + (ax1_0.5 * 8)) + 18], Y_local[((ax00_0 * 256) + (ax1_0.5 * 8)) + 34], Y_local[((ax00_0 * 256) + (ax1_0.5 * 8)) + 50], Y_local[((ax00_0 * 256) + (ax1_0.5 * 8)) + 66], Y_local[((ax00_0 * 256) + (ax1_0.5 * 8)) + 82], Y_local[((ax00_0 * 256) + (ax1_0.5 * 8)) + 98], Y_local[((ax00_0 * 256) + (ax1_0.5 * 8)) + 114], Y_local[((ax00_0 * 256) + (ax1_0.5 * 8)) + 130], Y_local[((ax00_0 * 256) + (ax1_0.5 * 8)) + 146], Y_local[((ax00_0 * 256) + (ax1_0.5 * 8)) + 162], Y_local[((ax00_0 * 256) + (ax1_0.5 * 8)) + 178], Y_local[((ax00_0 * 256) + (ax1_0.5 * 8)) + 194], Y_local[((ax00_0 * 256) + (ax1_0.5 * 8)) + 210], Y_local[((ax00_0 * 256) + (ax1_0.5 * 8)) + 226], Y_local[((ax00_0 * 256) + (ax1_0.5 * 8)) + 242])
#         Y[(((ax0_0_ax1_0_fused * 3136) + (ax1_0.5 * 1568)) + (ax00_0 * 16)) + 588] = pack(Y_local[((ax00_0 * 256) + (ax1_0.5 * 8)) + 3], Y_local[((ax00_0 * 256) + (ax1_0.5 * 8)) + 19], Y_local[((ax00_0 * 256) + (ax1_0.5 * 8)) + 35], Y_local[((ax00_0 * 256) + (ax1_0.5 * 8)) + 51], Y_local[((ax00_0 * 256) + (ax1_0.5 * 8)) + 67], Y_local[((ax00_0 * 256) + (ax1_0.5 * 8)) + 83], Y_local[((ax00_0 * 256) + (ax1_0.5 * 8)) + 99], Y_local[((ax00_0 * 256) + (ax1_0.5 * 8)) + 115], Y_local[((ax00_0 * 256) + (ax1_0.5 * 8)) + 131], Y_local[((ax00_0 * 256) + (ax1_0.5 * 8)) + 147], Y_local[((ax00_0 * 256) + (ax1_0.5 * 8)) + 163], Y_local[((ax00_0 * 256) + (ax1_0.5 * 8)) + 179], Y_local[((ax00_0 * 256) + (ax1_0.5 * 8)) + 195], Y_local[((ax00_0 * 256) + (ax1_0.5 * 8)) + 211], Y_local[((ax00_0 * 256) + (ax1_0.5 * 8)) + 227], Y_local[((ax00_0 * 256) + (ax1_0.5 * 8)) + 243])
#         Y[(((ax0_0_ax1_0_fused * 3136) + (ax1_0.5 * 1568)) + (ax00_0 * 16)) + 784] = pack(Y_local[((ax00_0 * 256) + (ax1_0.5 * 8)) + 4], Y_local[((ax00_0 * 256) + (ax1_0.5 * 8)) + 20], Y_local[((ax00_0 * 256) + (ax1_0.5 * 8)) + 36], Y_local[((ax00_0 * 256) + (ax1_0.5 * 8)) + 52], Y_local[((ax00_0 * 256) + (ax1_0.5 * 8)) + 68], Y_local[((ax00_0 * 256) + (ax1_0.5 * 8)) + 84], Y_local[((ax00_0 * 256) + (ax1_0.5 * 8)) + 100], Y_local[((ax00_0 * 256) + (ax1_0.5 * 8)) + 116], Y_local[((ax00_0 * 256) + (ax1_0.5 * 8)) + 132], Y_local[((ax00_0 * 256) + (ax1_0.5 * 8)) + 148], Y_local[((ax00_0 * 256) + (ax1_0.5 * 8)) + 164], Y_local[((ax00_0 * 256) + (ax1_0.5 * 8)) + 180], Y_local[((ax00_0 * 256) + (ax1_0.5 * 8)) + 196], Y_local[((ax00_0 * 256) + (ax1_0.5 * 8)) + 212], Y_local[((ax00_0 * 256) + (ax1_0.5 * 8)) + 228], Y_local[((ax00_0 * 256) + (ax1_0.5 * 8)) + 244])
#         Y[(((ax0_0_ax1_0_fused * 3136) + (ax1_0.5 * 1568)) + (ax00_0 * 16)) + 980] = pack(Y_local[((ax00_0 * 256) + (ax1_0.5 * 8)) + 5], Y_local[((ax00_0 * 256) + (ax1_0.5 * 8)) + 21], Y_local[((ax00_0 * 256) + (ax1_0.5 * 8)) + 37], Y_local[((ax00_0 * 256) + (ax1_0.5 * 8)) + 53], Y_local[((ax00_0 * 256) + (ax1_0.5 * 8)) + 69], Y_local[((ax00_0 * 256) + (ax1_0.5 * 8)) + 85], Y_local[((ax00_0 * 256) + (ax1_0.5 * 8)) + 101], Y_local[((ax00_0 * 256) + (ax1_0.5 * 8)) + 117], Y_local[((ax00_0 * 256) + (ax1_0.5 * 8)) + 133], Y_local[((ax00_0 * 256) + (ax1_0.5 * 8)) + 149], Y_local[((ax00_0 * 256) + (ax1_0.5 * 8)) + 165], Y_local[((ax00_0 * 256) + (ax1_0.5 * 8)) + 181], Y_local[((ax00_0 * 256) + (ax1_0.5 * 8)) + 197], Y_local[((ax00_0 * 256) + (ax1_0.5 * 8)) + 213], Y_local[((ax00_0 * 256) + (ax1_0.5 * 8)) + 229], Y_local[((ax00_0 * 256) + (ax1_0.5 * 8)) + 245])
#         Y[(((ax0_0_ax1_0_fused * 3136) + (ax1_0.5 * 1568)) + (ax00_0 * 16)) + 1176] = pack(Y_local[((ax00_0 * 256) + (ax1_0.5 * 8)) + 6], Y_local[((ax00_0 * 256) + (ax1_0.5 * 8)) + 22], Y_local[((ax00_0 * 256) + (ax1_0.5 * 8)) + 38], Y_local[((ax00_0 * 256) + (ax1_0.5 * 8)) + 54], Y_local[((ax00_0 * 256) + (ax1_0.5 * 8)) + 70], Y_local[((ax00_0 * 256) + (ax1_0.5 * 8)) + 86], Y_local[((ax00_0 * 256) + (ax1_0.5 * 8)) + 102], Y_local[((ax00_0 * 256) + (ax1_0.5 * 8)) + 118], Y_local[((ax00_0 * 256) + (ax1_0.5 * 8)) + 134], Y_local[((ax00_0 * 256) + (ax1_0.5 * 8)) + 150], Y_local[((ax00_0 * 256) + (ax1_0.5 * 8)) + 166], Y_local[((ax00_0 * 256) + (ax1_0.5 * 8)) + 182], Y_local[((ax00_0 * 256) + (ax1_0.5 * 8)) + 198], Y_local[((ax00_0 * 256) + (ax1_0.5 * 8)) + 214], Y_local[((ax00_0 * 256) + (ax1_0.5 * 8)) + 230], Y_local[((ax00_0 * 256) + (ax1_0.5 * 8)) + 246])
#         Y[(((ax0_0_ax1_0_fused * 3136) + (ax1_0.5 * 1568)) + (ax00_0 * 16)) + 1372] = pack(Y_local[((ax00_0 * 256) + (ax1_0.5 * 8)) + 7], Y_local[((ax00_0 * 256) + (ax1_0.5 * 8)) + 23], Y_local[((ax00_0 * 256) + (ax1_0.5 * 8)) + 39], Y_local[((ax00_0 * 256) + (ax1_0.5 * 8)) + 55], Y_local[((ax00_0 * 256) + (ax1_0.5 * 8)) + 71], Y_local[((ax00_0 * 256) + (ax1_0.5 * 8)) + 87], Y_local[((ax00_0 * 256) + (ax1_0.5 * 8)) + 103], Y_local[((ax00_0 * 256) + (ax1_0.5 * 8)) + 119], Y_local[((ax00_0 * 256) + (ax1_0.5 * 8)) + 135], Y_local[((ax00_0 * 256) + (ax1_0.5 * 8)) + 151], Y_local[((ax00_0 * 256) + (ax1_0.5 * 8)) + 167], Y_local[((ax00_0 * 256) + (ax1_0.5 * 8)) + 183], Y_local[((ax00_0 * 256) + (ax1_0.5 * 8)) + 199], Y_local[((ax00_0 * 256) + (ax1_0.5 * 8)) + 215], Y_local[((ax00_0 * 256) + (ax1_0.5 * 8)) + 231], Y_local[((ax00_0 * 256) + (ax1_0.5 * 8)) + 247])
#     for ax1_0.7 from 0, 2 times:
#       Y[((ax0_0_ax1_0_fused * 3136) + (ax1_0.7 * 1568)) + 192] = pack(Y_local[(ax1_0.7 * 8) + 3072], Y_local[(ax1_0.7 * 8) + 3088], Y_local[(ax1_0.7 * 8) + 3104], Y_local[(ax1_0.7 * 8) + 3120])
#       Y[((ax0_0_ax1_0_fused * 3136) + (ax1_0.7 * 1568)) + 388] = pack(Y_local[(ax1_0.7 * 8) + 3073], Y_local[(ax1_0.7 * 8) + 3089], Y_local[(ax1_0.7 * 8) + 3105], Y_local[(ax1_0.7 * 8) + 3121])
#       Y[((ax0_0_ax1_0_fused * 3136) + (ax1_0.7 * 1568)) + 584] = pack(Y_local[(ax1_0.7 * 8) + 3074], Y_local[(ax1_0.7 * 8) + 3090], Y_local[(ax1_0.7 * 8) + 3106], Y_local[(ax1_0.7 * 8) + 3122])
#       Y[((ax0_0_ax1_0_fused * 3136) + (ax1_0.7 * 1568)) + 780] = pack(Y_local[(ax1_0.7 * 8) + 3075], Y_local[(ax1_0.7 * 8) + 3091], Y_local[(ax1_0.7 * 8) + 3107], Y_local[(ax1_0.7 * 8) + 3123])
#       Y[((ax0_0_ax1_0_fused * 3136) + (ax1_0.7 * 1568)) + 976] = pack(Y_local[(ax1_0.7 * 8) + 3076], Y_local[(ax1_0.7 * 8) + 3092], Y_local[(ax1_0.7 * 8) + 3108], Y_local[(ax1_0.7 * 8) + 3124])
#       Y[((ax0_0_ax1_0_fused * 3136) + (ax1_0.7 * 1568)) + 1172] = pack(Y_local[(ax1_0.7 * 8) + 3077], Y_local[(ax1_0.7 * 8) + 3093], Y_local[(ax1_0.7 * 8) + 3109], Y_local[(ax1_0.7 * 8) + 3125])
#       Y[((ax0_0_ax1_0_fused * 3136) + (ax1_0.7 * 1568)) + 1368] = pack(Y_local[(ax1_0.7 * 8) + 3078], Y_local[(ax1_0.7 * 8) + 3094], Y_local[(ax1_0.7 * 8) + 3110], Y_local[(ax1_0.7 * 8) + 3126])
#       Y[((ax0_0_ax1_0_fused * 3136) + (ax1_0.7 * 1568)) + 1564] = pack(Y_local[(ax1_0.7 * 8) + 3079], Y_local[(ax1_0.7 * 8) + 3095], Y_local[(ax1_0.7 * 8) + 3111], Y_local[(ax1_0.7 * 8) + 3127])
