# test: lower
# target: avx512
# run: default rules
# Every second pixel of an open number of lines of an open length.

@T.prim_func
def conv2d(x: T.handle, W: T.Buffer((128, 32, 1, 1), "float32"), y: T.handle):
    h, w = T.int64(), T.int64()
    X = T.match_buffer(x, (1, 32, h * 2, w * 2))
    Y = T.match_buffer(y, (1, 128, h, w))
    for n, o, y, x, c, r, s in T.grid(1, 128, h, w, 32, 1, 1):
        with T.block("Y"):
            vn, vo, vy, vx, vc, vr, vs = T.axis.remap("SSSSRRR", [n, o, y, x, c, r, s])
            with T.init():
                Y[vn, vo, vy, vx] = T.float32(0)
            Y[vn, vo, vy, vx] = Y[vn, vo, vy, vx] + X[vn, vc, vy * 2 + vr, vx * 2 + vs] * W[vo, vc, vr, vs]
# expect-listing:
# func conv2d(h, w)
#   param 0 x: float32[1, 32, (h * 2), (w * 2)]
#   param 1 W: float32[128, 32, 1, 1]
#   param 2 y: float32[1, 128, h, w] written
#   temp 0 X_global: float32[((h * 32) * w)]
#
# kernel conv2d_0  # X_global
#   scalar h: int64 = h
#   scalar size.2: int64 = w // 16
#   scalar w: int64 = w
#   scalar size.5: int64 = w // 4
#   array X: float32, (32 * (h * 2)) * (w * 2) elements, global read param 0
#   array X_global: float32, (h * 32) * w elements, global write temp 0
#   cost 0 flop, (0 + (((32 * (h * 2)) * (w * 2)) * 4)) + (((h * 32) * w) * 4) bytes; accesses proved
#   parallel for n_y_c_r_s_fused from 0, h * 32 times:
#     for x_0.3 from 0, size.2 times:
#       X_global[(n_y_c_r_s_fused * w) + (x_0.3 * 16)] = pack(X[(((((n_y_c_r_s_fused & 31) * 4) * h) * w) + (((n_y_c_r_s_fused >> 5) * 4) * w)) + (x_0.3 * 32)], X[(((((n_y_c_r_s_fused & 31) * 4) * h) * w) + (((n_y_c_r_s_fused >> 5) * 4) * w)) + ((x_0.3 * 32) + 2)], X[(((((n_y_c_r_s_fused & 31) * 4) * h) * w) + (((n_y_c_r_s_fused >> 5) * 4) * w)) + ((x_0.3 * 32) + 4)], X[(((((n_y_c_r_s_fused & 31) * 4) * h) * w) + (((n_y_c_r_s_fused >> 5) * 4) * w)) + ((x_0.3 * 32) + 6)], X[(((((n_y_c_r_s_fused & 31) * 4) * h) * w) + (((n_y_c_r_s_fused >> 5) * 4) * w)) + ((x_0.3 * 32) + 8)], X[(((((n_y_c_r_s_fused & 31) * 4) * h) * w) + (((n_y_c_r_s_fused >> 5) * 4) * w)) + ((x_0.3 * 32) + 10)], X[(((((n_y_c_r_s_fused & 31) * 4) * h) * w) + (((n_y_c_r_s_fused >> 5) * 4) * w)) + ((x_0.3 * 32) + 12)], X[(((((n_y_c_r_s_fused & 31) * 4) * h) * w) + (((n_y_c_r_s_fused >> 5) * 4) * w)) + ((x_0.3 * 32) + 14)], X[(((((n_y_c_r_s_fused & 31) * 4) * h) * w) + (((n_y_c_r_s_fused >> 5) * 4) * w)) + ((x_0.3 * 32) + 16)], X[(((((n_y_c_r_s_fused & 31) * 4) * h) * w) + (((n_y_c_r_s_fused >> 5) * 4) * w)) + ((x_0.3 * 32) + 18)], X[(((((n_y_c_r_s_fused & 31) * 4) * h) * w) + (((n_y_c_r_s_fused >> 5) * 4) * w)) + ((x_0.3 * 32) + 20)], X[(((((n_y_c_r_s_fused & 31) * 4) * h) * w) + (((n_y_c_r_s_fused >> 5) * 4) * w)) + ((x_0.3 * 32) + 22)], X[(((((n_y_c_r_s_fused & 31) * 4) * h) * w) + (((n_y_c_r_s_fused >> 5) * 4) * w)) + ((x_0.3 * 32) + 24)], X[(((((n_y_c_r_s_fused & 31) * 4) * h) * w) + (((n_y_c_r_s_fused >> 5) * 4) * w)) + ((x_0.3 * 32) + 26)], X[(((((n_y_c_r_s_fused & 31) * 4) * h) * w) + (((n_y_c_r_s_fused >> 5) * 4) * w)) + ((x_0.3 * 32) + 28)], X[(((((n_y_c_r_s_fused & 31) * 4) * h) * w) + (((n_y_c_r_s_fused >> 5) * 4) * w)) + ((x_0.3 * 32) + 30)])
#     for x_0.6 from size.2 * 4, size.5 - (size.2 * 4) times:
#       X_global[(n_y_c_r_s_fused * w) + (x_0.6 * 4)] = pack(X[(((((n_y_c_r_s_fused & 31) * 4) * h) * w) + (((n_y_c_r_s_fused >> 5) * 4) * w)) + (x_0.6 * 8)], X[(((((n_y_c_r_s_fused & 31) * 4) * h) * w) + (((n_y_c_r_s_fused >> 5) * 4) * w)) + ((x_0.6 * 8) + 2)], X[(((((n_y_c_r_s_fused & 31) * 4) * h) * w) + (((n_y_c_r_s_fused >> 5) * 4) * w)) + ((x_0.6 * 8) + 4)], X[(((((n_y_c_r_s_fused & 31) * 4) * h) * w) + (((n_y_c_r_s_fused >> 5) * 4) * w)) + ((x_0.6 * 8) + 6)])
#     for x_0.7 from size.5 * 4, w - (size.5 * 4) times:
#       X_global[(n_y_c_r_s_fused * w) + x_0.7] = X[(((((n_y_c_r_s_fused & 31) * 4) * h) * w) + (((n_y_c_r_s_fused >> 5) * 4) * w)) + (x_0.7 * 2)]
#
# kernel conv2d_1  # Y_init, W_local, Y_update, Y_local
#   scalar h: int64 = h
#   scalar size.2: int64 = w // 128
#   scalar size.5: int64 = (w + 7) // 8
#   scalar w: int64 = w
#   scalar size.13: int64 = w // 8
#   scalar size.21: int64 = ((w % 128) + 127) // 128
#   scalar size.24: int64 = min((((w + 7) // 8) - ((w // 128) * 16)), 16)
#   scalar size.28: int64 = min(16, ((w - ((w // 128) * 128)) // 8))
#   scalar size.31: int64 = max(min((w - ((w // 128) * 128)), 128), 0) % 8
#   scalar size.33: int64 = max(min(((w // 8) - ((w // 128) * 16)), 15), 0)
#   scalar size.40: int64 = (w % 128) // 16
#   scalar size.42: int64 = (w % 128) // 4
#   scalar size.44: int64 = w % 128
#   array W: float32, 4096 elements, global read param 1
#   array Y: float32, (128 * h) * w elements, global write param 2
#   array X_global: float32, (h * 32) * w elements, global read temp 0
#   array Y_local: float32, 4096 elements, local
#   array W_local: float32, 1024 elements, local
#   array Y_local_cell.5: float32, 16 elements, local
#   array Y_local_cell.6: float32, 16 elements, local
#   array Y_local_cell.7: float32, 16 elements, local
#   array Y_local_cell.8: float32, 16 elements, local
#   array Y_local_cell.9: float32, 16 elements, local
#   array Y_local_cell.10: float32, 16 elements, local
#   array Y_local_cell.11: float32, 16 elements, local
#   array Y_local_cell.12: float32, 16 elements, local
#   array Y_local_cell.13: float32, 16 elements, local
#   array Y_local_cell.14: float32, 16 elements, local
#   array Y_local_cell.15: float32, 16 elements, local
#   array Y_local_cell.16: float32, 16 elements, local
#   array Y_local_cell.17: float32, 16 elements, local
#   array Y_local_cell.18: float32, 16 elements, local
#   array Y_local_cell.19: float32, 16 elements, local
#   array Y_local_cell.20: float32, 16 elements, local
#   array Y_local_cell.21: float32, 16 elements, local
#   array Y_local_cell.22: float32, 16 elements, local
#   array Y_local_cell.23: float32, 16 elements, local
#   array Y_local_cell.24: float32, 16 elements, local
#   array Y_local_cell.25: float32, 16 elements, local
#   array Y_local_cell.26: float32, 16 elements, local
#   array Y_local_cell.27: float32, 16 elements, local
#   array Y_local_cell.28: float32, 16 elements, local
#   array Y_local_cell.29: float32, 16 elements, local
#   array Y_local_cell.30: float32, 16 elements, local
#   array Y_local_cell.31: float32, 16 elements, local
#   array Y_local_cell.32: float32, 16 elements, local
#   array Y_local_cell.33: float32, 16 elements, local
#   array Y_local_cell.34: float32, 16 elements, local
#   array Y_local_cell.35: float32, 16 elements, local
#   array Y_local_cell.36: float32, 16 elements, local
#   array Y_local_cell.37: float32, 16 elements, local
#   array Y_local_cell.38: float32, 16 elements, local
#   array Y_local_cell.39: float32, 16 elements, local
#   array Y_local_cell.40: float32, 16 elements, local
#   array Y_local_cell.41: float32, 16 elements, local
#   array Y_local_cell.42: float32, 16 elements, local
#   array Y_local_cell.43: float32, 16 elements, local
#   array Y_local_cell.44: float32, 16 elements, local
#   array Y_local_cell.45: float32, 16 elements, local
#   array Y_local_cell.46: float32, 16 elements, local
#   array Y_local_cell.47: float32, 16 elements, local
#   array Y_local_cell.48: float32, 16 elements, local
#   array Y_local_cell.49: float32, 16 elements, local
#   array Y_local_cell.50: float32, 16 elements, local
#   array Y_local_cell.51: float32, 16 elements, local
#   array Y_local_cell.52: float32, 16 elements, local
#   array Y_local_cell.53: float32, 16 elements, local
#   array Y_local_cell.54: float32, 16 elements, local
#   array Y_local_cell.55: float32, 16 elements, local
#   array Y_local_cell.56: float32, 16 elements, local
#   array Y_local_cell.57: float32, 16 elements, local
#   array Y_local_cell.58: float32, 16 elements, local
#   array Y_local_cell.59: float32, 16 elements, local
#   array Y_local_cell.60: float32, 16 elements, local
#   array Y_local_cell.61: float32, 16 elements, local
#   array Y_local_cell.62: float32, 16 elements, local
#   array Y_local_cell.63: float32, 16 elements, local
#   array Y_local_cell.64: float32, 16 elements, local
#   array Y_local_cell.65: float32, 16 elements, local
#   array Y_local_cell.66: float32, 16 elements, local
#   array Y_local_cell.67: float32, 16 elements, local
#   array Y_local_cell.68: float32, 16 elements, local
#   array Y_local_cell.69: float32, 16 elements, local
#   array Y_local_cell.70: float32, 16 elements, local
#   array Y_local_cell.71: float32, 16 elements, local
#   array Y_local_cell.72: float32, 16 elements, local
#   array Y_local_cell.73: float32, 16 elements, local
#   array Y_local_cell.74: float32, 16 elements, local
#   array Y_local_cell.75: float32, 16 elements, local
#   array Y_local_cell.76: float32, 16 elements, local
#   cost 0 + ((((h * w) * 128) * 32) * 2) flop, (16384 + (((128 * h) * w) * 4)) + (((h * 32) * w) * 4) bytes; accesses proved
#   parallel for ax0.1 from 0, h times:
#     for ax1_0.3 from 0, size.2 times:
#       for ax2_0.4 from 0, 4 times:
#         for ax1_1_init.6 from 0, min((size.5 - (ax1_0.3 * 16)), 16) times:
#           Y_local[ax1_1_init.6 * 256] = splat16(0.0)
#           Y_local[(ax1_1_init.6 * 256) + 16] = splat16(0.0)
#           Y_local[(ax1_1_init.6 * 256) + 32] = splat16(0.0)
#           Y_local[(ax1_1_init.6 * 256) + 48] = splat16(0.0)
#           Y_local[(ax1_1_init.6 * 256) + 64] = splat16(0.0)
#           Y_local[(ax1_1_init.6 * 256) + 80] = splat16(0.0)
#           Y_local[(ax1_1_init.6 * 256) + 96] = splat16(0.0)
#           Y_local[(ax1_1_init.6 * 256) + 112] = splat16(0.0)
#           Y_local[(ax1_1_init.6 * 256) + 128] = splat16(0.0)
#           Y_local[(ax1_1_init.6 * 256) + 144] = splat16(0.0)
#           Y_local[(ax1_1_init.6 * 256) + 160] = splat16(0.0)
#           Y_local[(ax1_1_init.6 * 256) + 176] = splat16(0.0)
#           Y_local[(ax1_1_init.6 * 256) + 192] = splat16(0.0)
#           Y_local[(ax1_1_init.6 * 256) + 208] = splat16(0.0)
#           Y_local[(ax1_1_init.6 * 256) + 224] = splat16(0.0)
#           Y_local[(ax1_1_init.6 * 256) + 240] = splat16(0.0)
#         for ax0.7 from 0, 32 times:
#           for ax1.8 from 0, 32 times:
#             W_local[(ax1.8 * 32) + ax0.7] = W[((ax2_0.4 * 1024) + (ax0.7 * 32)) + ax1.8]
#         for ax1_1.10 from 0, min(16, ((w - (ax1_0.3 * 128)) >> 3)) times:
#           Y_local_cell.5[0] = Y_local[ax1_1.10 * 256 : 16]
#           Y_local_cell.6[0] = Y_local[(ax1_1.10 * 256) + 16 : 16]
#           Y_local_cell.7[0] = Y_local[(ax1_1.10 * 256) + 32 : 16]
#           Y_local_cell.8[0] = Y_local[(ax1_1.10 * 256) + 48 : 16]
#           Y_local_cell.9[0] = Y_local[(ax1_1.10 * 256) + 64 : 16]
#           Y_local_cell.10[0] = Y_local[(ax1_1.10 * 256) + 80 : 16]
#           Y_local_cell.11[0] = Y_local[(ax1_1.10 * 256) + 96 : 16]
#           Y_local_cell.12[0] = Y_local[(ax1_1.10 * 256) + 112 : 16]
#           Y_local_cell.13[0] = Y_local[(ax1_1.10 * 256) + 128 : 16]
#           Y_local_cell.14[0] = Y_local[(ax1_1.10 * 256) + 144 : 16]
#           Y_local_cell.15[0] = Y_local[(ax1_1.10 * 256) + 160 : 16]
#           Y_local_cell.16[0] = Y_local[(ax1_1.10 * 256) + 176 : 16]
#           Y_local_cell.17[0] = Y_local[(ax1_1.10 * 256) + 192 : 16]
#           Y_local_cell.18[0] = Y_local[(ax1_1.10 * 256) + 208 : 16]
#           Y_local_cell.19[0] = Y_local[(ax1_1.10 * 256) + 224 : 16]
#           Y_local_cell.20[0] = Y_local[(ax1_1.10 * 256) + 240 : 16]
#           for ax3_1.11 from 0, 32 times:
#             Y_local_cell.5[0] = Y_local_cell.5[0 : 16] + (splat16(X_global[(((ax0.1 * 32) + ax3_1.11) * w) + ((ax1_0.3 * 128) + (ax1_1.10 * 8))]) * W_local[ax3_1.11 * 32 : 16])
#             Y_local_cell.6[0] = Y_local_cell.6[0 : 16] + (splat16(X_global[(((ax0.1 * 32) + ax3_1.11) * w) + ((ax1_0.3 * 128) + (ax1_1.10 * 8))]) * W_local[(ax3_1.11 * 32) + 16 : 16])
#             Y_local_cell.7[0] = Y_local_cell.7[0 : 16] + (splat16(X_global[(((ax0.1 * 32) + ax3_1.11) * w) + (((ax1_0.3 * 128) + (ax1_1.10 * 8)) + 1)]) * W_local[ax3_1.11 * 32 : 16])
#             Y_local_cell.8[0] = Y_local_cell.8[0 : 16] + (splat16(X_global[(((ax0.1 * 32) + ax3_1.11) * w) + (((ax1_0.3 * 128) + (ax1_1.10 * 8)) + 1)]) * W_local[(ax3_1.11 * 32) + 16 : 16])
#             Y_local_cell.9[0] = Y_local_cell.9[0 : 16] + (splat16(X_global[(((ax0.1 * 32) + ax3_1.11) * w) + (((ax1_0.3 * 128) + (ax1_1.10 * 8)) + 2)]) * W_local[ax3_1.11 * 32 : 16])
#             Y_local_cell.10[0] = Y_local_cell.10[0 : 16] + (splat16(X_global[(((ax0.1 * 32) + ax3_1.11) * w) + (((ax1_0.3 * 128) + (ax1_1.10 * 8)) + 2)]) * W_local[(ax3_1.11 * 32) + 16 : 16])
#             Y_local_cell.11[0] = Y_local_cell.11[0 : 16] + (splat16(X_global[(((ax0.1 * 32) + ax3_1.11) * w) + (((ax1_0.3 * 128) + (ax1_1.10 * 8)) + 3)]) * W_local[ax3_1.11 * 32 : 16])
#             Y_local_cell.12[0] = Y_local_cell.12[0 : 16] + (splat16(X_global[(((ax0.1 * 32) + ax3_1.11) * w) + (((ax1_0.3 * 128) + (ax1_1.10 * 8)) + 3)]) * W_local[(ax3_1.11 * 32) + 16 : 16])
#             Y_local_cell.13[0] = Y_local_cell.13[0 : 16] + (splat16(X_global[(((ax0.1 * 32) + ax3_1.11) * w) + (((ax1_0.3 * 128) + (ax1_1.10 * 8)) + 4)]) * W_local[ax3_1.11 * 32 : 16])
#             Y_local_cell.14[0] = Y_local_cell.14[0 : 16] + (splat16(X_global[(((ax0.1 * 32) + ax3_1.11) * w) + (((ax1_0.3 * 128) + (ax1_1.10 * 8)) + 4)]) * W_local[(ax3_1.11 * 32) + 16 : 16])
#             Y_local_cell.15[0] = Y_local_cell.15[0 : 16] + (splat16(X_global[(((ax0.1 * 32) + ax3_1.11) * w) + (((ax1_0.3 * 128) + (ax1_1.10 * 8)) + 5)]) * W_local[ax3_1.11 * 32 : 16])
#             Y_local_cell.16[0] = Y_local_cell.16[0 : 16] + (splat16(X_global[(((ax0.1 * 32) + ax3_1.11) * w) + (((ax1_0.3 * 128) + (ax1_1.10 * 8)) + 5)]) * W_local[(ax3_1.11 * 32) + 16 : 16])
#             Y_local_cell.17[0] = Y_local_cell.17[0 : 16] + (splat16(X_global[(((ax0.1 * 32) + ax3_1.11) * w) + (((ax1_0.3 * 128) + (ax1_1.10 * 8)) + 6)]) * W_local[ax3_1.11 * 32 : 16])
#             Y_local_cell.18[0] = Y_local_cell.18[0 : 16] + (splat16(X_global[(((ax0.1 * 32) + ax3_1.11) * w) + (((ax1_0.3 * 128) + (ax1_1.10 * 8)) + 6)]) * W_local[(ax3_1.11 * 32) + 16 : 16])
#             Y_local_cell.19[0] = Y_local_cell.19[0 : 16] + (splat16(X_global[(((ax0.1 * 32) + ax3_1.11) * w) + (((ax1_0.3 * 128) + (ax1_1.10 * 8)) + 7)]) * W_local[ax3_1.11 * 32 : 16])
#             Y_local_cell.20[0] = Y_local_cell.20[0 : 16] + (splat16(X_global[(((ax0.1 * 32) + ax3_1.11) * w) + (((ax1_0.3 * 128) + (ax1_1.10 * 8)) + 7)]) * W_local[(ax3_1.11 * 32) + 16 : 16])
#           Y_local[ax1_1.10 * 256] = Y_local_cell.5[0 : 16]
#           Y_local[(ax1_1.10 * 256) + 16] = Y_local_cell.6[0 : 16]
#           Y_local[(ax1_1.10 * 256) + 32] = Y_local_cell.7[0 : 16]
#           Y_local[(ax1_1.10 * 256) + 48] = Y_local_cell.8[0 : 16]
#           Y_local[(ax1_1.10 * 256) + 64] = Y_local_cell.9[0 : 16]
#           Y_local[(ax1_1.10 * 256) + 80] = Y_local_cell.10[0 : 16]
#           Y_local[(ax1_1.10 * 256) + 96] = Y_local_cell.11[0 : 16]
#           Y_local[(ax1_1.10 * 256) + 112] = Y_local_cell.12[0 : 16]
#           Y_local[(ax1_1.10 * 256) + 128] = Y_local_cell.13[0 : 16]
#           Y_local[(ax1_1.10 * 256) + 144] = Y_local_cell.14[0 : 16]
#           Y_local[(ax1_1.10 * 256) + 160] = Y_local_cell.15[0 : 16]
#           Y_local[(ax1_1.10 * 256) + 176] = Y_local_cell.16[0 : 16]
#           Y_local[(ax1_1.10 * 256) + 192] = Y_local_cell.17[0 : 16]
#           Y_local[(ax1_1.10 * 256) + 208] = Y_local_cell.18[0 : 16]
#           Y_local[(ax1_1.10 * 256) + 224] = Y_local_cell.19[0 : 16]
#           Y_local[(ax1_1.10 * 256) + 240] = Y_local_cell.20[0 : 16]
#         let rest.12 = max(min((w - (ax1_0.3 * 128)), 128), 0) & 7
#         let ax1_1.14 = max(min((size.13 - (ax1_0.3 * 16)), 15), 0)
#         if (rest.12 >> 2) == 1:
#           Y_local_cell.21[0] = Y_local[ax1_1.14 * 256 : 16]
#           Y_local_cell.22[0] = Y_local[(ax1_1.14 * 256) + 16 : 16]
#           Y_local_cell.23[0] = Y_local[(ax1_1.14 * 256) + 32 : 16]
#           Y_local_cell.24[0] = Y_local[(ax1_1.14 * 256) + 48 : 16]
#           Y_local_cell.25[0] = Y_local[(ax1_1.14 * 256) + 64 : 16]
#           Y_local_cell.26[0] = Y_local[(ax1_1.14 * 256) + 80 : 16]
#           Y_local_cell.27[0] = Y_local[(ax1_1.14 * 256) + 96 : 16]
#           Y_local_cell.28[0] = Y_local[(ax1_1.14 * 256) + 112 : 16]
#           for ax3_1.15 from 0, 32 times:
#             Y_local_cell.21[0] = Y_local_cell.21[0 : 16] + (splat16(X_global[(((ax0.1 * 32) + ax3_1.15) * w) + min(((ax1_0.3 * 128) + (ax1_1.14 * 8)), (w - 1))]) * W_local[ax3_1.15 * 32 : 16])
#             Y_local_cell.22[0] = Y_local_cell.22[0 : 16] + (splat16(X_global[(((ax0.1 * 32) + ax3_1.15) * w) + min(((ax1_0.3 * 128) + (ax1_1.14 * 8)), (w - 1))]) * W_local[(ax3_1.15 * 32) + 16 : 16])
#             Y_local_cell.23[0] = Y_local_cell.23[0 : 16] + (splat16(X_global[(((ax0.1 * 32) + ax3_1.15) * w) + min((((ax1_0.3 * 128) + (ax1_1.14 * 8)) + 1), (w - 1))]) * W_local[ax3_1.15 * 32 : 16])
#             Y_local_cell.24[0] = Y_local_cell.24[0 : 16] + (splat16(X_global[(((ax0.1 * 32) + ax3_1.15) * w) + min((((ax1_0.3 * 128) + (ax1_1.14 * 8)) + 1), (w - 1))]) * W_local[(ax3_1.15 * 32) + 16 : 16])
#             Y_local_cell.25[0] = Y_local_cell.25[0 : 16] + (splat16(X_global[(((ax0.1 * 32) + ax3_1.15) * w) + min((((ax1_0.3 * 128) + (ax1_1.14 * 8)) + 2), (w - 1))]) * W_local[ax3_1.15 * 32 : 16])
#             Y_local_cell.26[0] = Y_local_cell.26[0 : 16] + (splat16(X_global[(((ax0.1 * 32) + ax3_1.15) * w) + min((((ax1_0.3 * 128) + (ax1_1.14 * 8)) + 2), (w - 1))]) * W_local[(ax3_1.15 * 32) + 16 : 16])
#             Y_local_cell.27[0] = Y_local_cell.27[0 : 16] + (splat16(X_global[(((ax0.1 * 32) + ax3_1.15) * w) + min((((ax1_0.3 * 128) + (ax1_1.14 * 8)) + 3), (w - 1))]) * W_local[ax3_1.15 * 32 : 16])
#             Y_local_cell.28[0] = Y_local_cell.28[0 : 16] + (splat16(X_global[(((ax0.1 * 32) + ax3_1.15) * w) + min((((ax1_0.3 * 128) + (ax1_1.14 * 8)) + 3), (w - 1))]) * W_local[(ax3_1.15 * 32) + 16 : 16])
#           Y_local[ax1_1.14 * 256] = Y_local_cell.21[0 : 16]
#           Y_local[(ax1_1.14 * 256) + 16] = Y_local_cell.22[0 : 16]
#           Y_local[(ax1_1.14 * 256) + 32] = Y_local_cell.23[0 : 16]
#           Y_local[(ax1_1.14 * 256) + 48] = Y_local_cell.24[0 : 16]
#           Y_local[(ax1_1.14 * 256) + 64] = Y_local_cell.25[0 : 16]
#           Y_local[(ax1_1.14 * 256) + 80] = Y_local_cell.26[0 : 16]
#           Y_local[(ax1_1.14 * 256) + 96] = Y_local_cell.27[0 : 16]
#           Y_local[(ax1_1.14 * 256) + 112] = Y_local_cell.28[0 : 16]
#         if (rest.12 & 3) == 3:
#           Y_local_cell.29[0] = Y_local[(ax1_1.14 * 256) + ((rest.12 >> 2) * 128) : 16]
#           Y_local_cell.30[0] = Y_local[((ax1_1.14 * 256) + ((rest.12 >> 2) * 128)) + 16 : 16]
#           Y_local_cell.31[0] = Y_local[((ax1_1.14 * 256) + ((rest.12 >> 2) * 128)) + 32 : 16]
#           Y_local_cell.32[0] = Y_local[((ax1_1.14 * 256) + ((rest.12 >> 2) * 128)) + 48 : 16]
#           Y_local_cell.33[0] = Y_local[((ax1_1.14 * 256) + ((rest.12 >> 2) * 128)) + 64 : 16]
#           Y_local_cell.34[0] = Y_local[((ax1_1.14 * 256) + ((rest.12 >> 2) * 128)) + 80 : 16]
#           for ax3_1.16 from 0, 32 times:
#             Y_local_cell.29[0] = Y_local_cell.29[0 : 16] + (splat16(X_global[(((ax0.1 * 32) + ax3_1.16) * w) + min((((ax1_0.3 * 128) + (ax1_1.14 * 8)) + ((rest.12 >> 2) * 4)), (w - 1))]) * W_local[ax3_1.16 * 32 : 16])
#             Y_local_cell.30[0] = Y_local_cell.30[0 : 16] + (splat16(X_global[(((ax0.1 * 32) + ax3_1.16) * w) + min((((ax1_0.3 * 128) + (ax1_1.14 * 8)) + ((rest.12 >> 2) * 4)), (w - 1))]) * W_local[(ax3_1.16 * 32) + 16 : 16])
#             Y_local_cell.31[0] = Y_local_cell.31[0 : 16] + (splat16(X_global[(((ax0.1 * 32) + ax3_1.16) * w) + min((((ax1_0.3 * 128) + (ax1_1.14 * 8)) + (((rest.12 >> 2) * 4) + 1)), (w - 1))]) * W_local[ax3_1.16 * 32 : 16])
#             Y_local_cell.32[0] = Y_local_cell.32[0 : 16] + (splat16(X_global[(((ax0.1 * 32) + ax3_1.16) * w) + min((((ax1_0.3 * 128) + (ax1_1.14 * 8)) + (((rest.12 >> 2) * 4) + 1)), (w - 1))]) * W_local[(ax3_1.16 * 32) + 16 : 16])
#             Y_local_cell.33[0] = Y_local_cell.33[0 : 16] + (splat16(X_global[(((ax0.1 * 32) + ax3_1.16) * w) + min((((ax1_0.3 * 128) + (ax1_1.14 * 8)) + (((rest.12 >> 2) * 4) + 2)), (w - 1))]) * W_local[ax3_1.16 * 32 : 16])
#             Y_local_cell.34[0] = Y_local_cell.34[0 : 16] + (splat16(X_global[(((ax0.1 * 32) + ax3_1.16) * w) + min((((ax1_0.3 * 128) + (ax1_1.14 * 8)) + (((rest.12 >> 2) * 4) + 2)), (w - 1))]) * W_local[(ax3_1.16 * 32) + 16 : 16])
#           Y_local[(ax1_1.14 * 256) + ((rest.12 >> 2) * 128)] = Y_local_cell.29[0 : 16]
#           Y_local[((ax1_1.14 * 256) + ((rest.12 >> 2) * 128)) + 16] = Y_local_cell.30[0 : 16]
#           Y_local[((ax1_1.14 * 256) + ((rest.12 >> 2) * 128)) + 32] = Y_local_cell.31[0 : 16]
#           Y_local[((ax1_1.14 * 256) + ((rest.12 >> 2) * 128)) + 48] = Y_local_cell.32[0 : 16]
#           Y_local[((ax1_1.14 * 256) + ((rest.12 >> 2) * 128)) + 64] = Y_local_cell.33[0 : 16]
#           Y_local[((ax1_1.14 * 256) + ((rest.12 >> 2) * 128)) + 80] = Y_local_cell.34[0 : 16]
#         if (rest.12 & 3) == 2:
#           Y_local_cell.35[0] = Y_local[(ax1_1.14 * 256) + ((rest.12 >> 2) * 128) : 16]
#           Y_local_cell.36[0] = Y_local[((ax1_1.14 * 256) + ((rest.12 >> 2) * 128)) + 16 : 16]
#           Y_local_cell.37[0] = Y_local[((ax1_1.14 * 256) + ((rest.12 >> 2) * 128)) + 32 : 16]
#           Y_local_cell.38[0] = Y_local[((ax1_1.14 * 256) + ((rest.12 >> 2) * 128)) + 48 : 16]
#           for ax3_1.17 from 0, 32 times:
#             Y_local_cell.35[0] = Y_local_cell.35[0 : 16] + (splat16(X_global[(((ax0.1 * 32) + ax3_1.17) * w) + min((((ax1_0.3 * 128) + (ax1_1.14 * 8)) + ((rest.12 >> 2) * 4)), (w - 1))]) * W_local[ax3_1.17 * 32 : 16])
#             Y_local_cell.36[0] = Y_local_cell.36[0 : 16] + (splat16(X_global[(((ax0.1 * 32) + ax3_1.17) * w) + min((((ax1_0.3 * 128) + (ax1_1.14 * 8)) + ((rest.12 >> 2) * 4)), (w - 1))]) * W_local[(ax3_1.17 * 32) + 16 : 16])
#             Y_local_cell.37[0] = Y_local_cell.37[0 : 16] + (splat16(X_global[(((ax0.1 * 32) + ax3_1.17) * w) + min((((ax1_0.3 * 128) + (ax1_1.14 * 8)) + (((rest.12 >> 2) * 4) + 1)), (w - 1))]) * W_local[ax3_1.17 * 32 : 16])
#             Y_local_cell.38[0] = Y_local_cell.38[0 : 16] + (splat16(X_global[(((ax0.1 * 32) + ax3_1.17) * w) + min((((ax1_0.3 * 128) + (ax1_1.14 * 8)) + (((rest.12 >> 2) * 4) + 1)), (w - 1))]) * W_local[(ax3_1.17 * 32) + 16 : 16])
#           Y_local[(ax1_1.14 * 256) + ((rest.12 >> 2) * 128)] = Y_local_cell.35[0 : 16]
#           Y_local[((ax1_1.14 * 256) + ((rest.12 >> 2) * 128)) + 16] = Y_local_cell.36[0 : 16]
#           Y_local[((ax1_1.14 * 256) + ((rest.12 >> 2) * 128)) + 32] = Y_local_cell.37[0 : 16]
#           Y_local[((ax1_1.14 * 256) + ((rest.12 >> 2) * 128)) + 48] = Y_local_cell.38[0 : 16]
#         if (rest.12 & 3) == 1:
#           Y_local_cell.39[0] = Y_local[(ax1_1.14 * 256) + ((rest.12 >> 2) * 128) : 16]
#           Y_local_cell.40[0] = Y_local[((ax1_1.14 * 256) + ((rest.12 >> 2) * 128)) + 16 : 16]
#           for ax3_1.18 from 0, 32 times:
#             Y_local_cell.39[0] = Y_local_cell.39[0 : 16] + (splat16(X_global[(((ax0.1 * 32) + ax3_1.18) * w) + min((((ax1_0.3 * 128) + (ax1_1.14 * 8)) + ((rest.12 >> 2) * 4)), (w - 1))]) * W_local[ax3_1.18 * 32 : 16])
#             Y_local_cell.40[0] = Y_local_cell.40[0 : 16] + (splat16(X_global[(((ax0.1 * 32) + ax3_1.18) * w) + min((((ax1_0.3 * 128) + (ax1_1.14 * 8)) + ((rest.12 >> 2) * 4)), (w - 1))]) * W_local[(ax3_1.18 * 32) + 16 : 16])
#           Y_local[(ax1_1.14 * 256) + ((rest.12 >> 2) * 128)] = Y_local_cell.39[0 : 16]
#           Y_local[((ax1_1.14 * 256) + ((rest.12 >> 2) * 128)) + 16] = Y_local_cell.40[0 : 16]
#         for ax2_0.19 from 0, 2 times:
#           for ax1_0.20 from 0, 8 times:
#             Y[(((((ax2_0.4 * 32) + (ax2_0.19 * 16)) * h) * w) + (ax0.1 * w)) + ((ax1_0.3 * 128) + (ax1_0.20 * 16))] = pack(Y_local[(ax1_0.20 * 512) + (ax2_0.19 * 16)], Y_local[((ax1_0.20 * 512) + (ax2_0.19 * 16)) + 32], Y_local[((ax1_0.20 * 512) + (ax2_0.19 * 16)) + 64], Y_local[((ax1_0.20 * 512) + (ax2_0.19 * 16)) + 96], Y_local[((ax1_0.20 * 512) + (ax2_0.19 * 16)) + 128], Y_local[((ax1_0.20 * 512) + (ax2_0.19 * 16)) + 160], Y_local[((ax1_0.20 * 512) + (ax2_0.19 * 16)) + 192], Y_local[((ax1_0.20 * 512) + (ax2_0.19 * 16)) + 224], Y_local[((ax1_0.20 * 512) + (ax2_0.19 * 16)) + 256], Y_local[((ax1_0.20 * 512) + (ax2_0.19 * 16)) + 288], Y_local[((ax1_0.20 * 512) + (ax2_0.19 * 16)) + 320], Y_local[((ax1_0.20 * 512) + (ax2_0.19 * 16)) + 352], Y_local[((ax1_0.20 * 512) + (ax2_0.19 * 16)) + 384], Y_local[((ax1_0.20 * 512) + (ax2_0.19 * 16)) + 416], Y_local[((ax1_0.20 * 512) + (ax2_0.19 * 16)) + 448], Y_local[((ax1_0.20 * 512) + (ax2_0.19 * 16)) + 480])
#             Y[((((((ax2_0.4 * 32) + (ax2_0.19 * 16)) + 1) * h) * w) + (ax0.1 * w)) + ((ax1_0.3 * 128) + (ax1_0.20 * 16))] = pack(Y_local[((ax1_0.20 * 512) + (ax2_0.19 * 16)) + 1], Y_local[((ax1_0.20 * 512) + (ax2_0.19 * 16)) + 33], Y_local[((ax1_0.20 * 512) + (ax2_0.19 * 16)) + 65], Y_local[((ax1_0.20 * 512) + (ax2_0.19 * 16)) + 97], Y_local[((ax1_0.20 * 512) + (ax2_0.19 * 16)) + 129], Y_local[((ax1_0.20 * 512) + (ax2_0.19 * 16)) + 161], Y_local[((ax1_0.20 * 512) + (ax2_0.19 * 16)) + 193], Y_local[((ax1_0.20 * 512) + (ax2_0.19 * 16)) + 225], Y_local[((ax1_0.20 * 512) + (ax2_0.19 * 16)) + 257], Y_local[((ax1_0.20 * 512) + (ax2_0.19 * 16)) + 289], Y_local[((ax1_0.20 * 512) + (ax2_0.19 * 16)) + 321], Y_local[((ax1_0.20 * 512) + (ax2_0.19 * 16)) + 353], Y_local[((ax1_0.20 * 512) + (ax2_0.19 * 16)) + 385], Y_local[((ax1_0.20 * 512) + (ax2_0.19 * 16)) + 417], Y_local[((ax1_0.20 * 512) + (ax2_0.19 * 16)) + 449], Y_local[((ax1_0.20 * 512) + (ax2_0.19 * 16)) + 481])
#             Y[((((((ax2_0.4 * 32) + (ax2_0.19 * 16)) + 2) * h) * w) + (ax0.1 * w)) + ((ax1_0.3 * 128) + (ax1_0.20 * 16))] = pack(Y_local[((ax1_0.20 * 512) + (ax2_0.19 * 16)) + 2], Y_local[((ax1_0.20 * 512) + (ax2_0.19 * 16)) + 34], Y_local[((ax1_0.20 * 512) + (ax2_0.19 * 16)) + 66], Y_local[((ax1_0.20 * 512) + (ax2_0.19 * 16)) + 98], Y_local[((ax1_0.20 * 512) + (ax2_0.19 * 16)) + 130], Y_local[((ax1_0.20 * 512) + (ax2_0.19 * 16)) + 162], Y_local[((ax1_0.20 * 512) + (ax2_0.19 * 16)) + 194], Y_local[((ax1_0.20 * 512) + (ax2_0.19 * 16)) + 226], Y_local[((ax1_0.20 * 512) + (ax2_0.19 * 16)) + 258], Y_local[((ax1_0.20 * 512) + (ax2_0.19 * 16)) + 290], Y_local[((ax1_0.20 * 512) + (ax2_0.19 * 16)) + 322], Y_local[((ax1_0.20 * 512) + (ax2_0.19 * 16)) + 354], Y_local[((ax1_0.20 * 512) + (ax2_0.19 * 16)) + 386], Y_local[((ax1_0.20 * 512) + (ax2_0.19 * 16)) + 418], Y_local[((ax1_0.20 * 512) + (ax2_0.19 * 16)) + 450], Y_local[((ax1_0.20 * 512) + (ax2_0.19 * 16)) + 482])
#             Y[((((((ax2_0.4 * 32) + (ax2_0.19 * 16)) + 3) * h) * w) + (ax0.1 * w)) + ((ax1_0.3 * 128) + (ax1_0.20 * 16))] = pack(Y_local[((ax1_0.20 * 512) + (ax2_0.19 * 16)) + 3], Y_local[((ax1_0.20 * 512) + (ax2_0.19 * 16)) + 35], Y_local[((ax1_0.20 * 512) + (ax2_0.19 * 16)) + 67], Y_local[((ax1_0.20 * 512) + (ax2_0.19 * 16)) + 99], Y_local[((ax1_0.20 * 512) + (ax2_0.19 * 16)) + 131], Y_local[((ax1_0.20 * 512) + (ax2_0.19 * 16)) + 163], Y_local[((ax1_0.20 * 512) + (ax2_0.19 * 16)) + 195], Y_local[((ax1_0.20 * 512) + (ax2_0.19 * 16)) + 227], Y_local[((ax1_0.20 * 512) + (ax2_0.19 * 16)) + 259], Y_local[((ax1_0.20 * 512) + (ax2_0.19 * 16)) + 291], Y_local[((ax1_0.20 * 512) + (ax2_0.19 * 16)) + 323], Y_local[((ax1_0.20 * 512) + (ax2_0.19 * 16)) + 355], Y_local[((ax1_0.20 * 512) + (ax2_0.19 * 16)) + 387], Y_local[((ax1_0.20 * 512) + (ax2_0.19 * 16)) + 419], Y_local[((ax1_0.20 * 512) + (ax2_0.19 * 16)) + 451], Y_local[((ax1_0.20 * 512) + (ax2_0.19 * 16)) + 483])
#             Y[((((((ax2_0.4 * 32) + (ax2_0.19 * 16)) + 4) * h) * w) + (ax0.1 * w)) + ((ax1_0.3 * 128) + (ax1_0.20 * 16))] = pack(Y_local[((ax1_0.20 * 512) + (ax2_0.19 * 16)) + 4], Y_local[((ax1_0.20 * 512) + (ax2_0.19 * 16)) + 36], Y_local[((ax1_0.20 * 512) + (ax2_0.19 * 16)) + 68], Y_local[((ax1_0.20 * 512) + (ax2_0.19 * 16)) + 100], Y_local[((ax1_0.20 * 512) + (ax2_0.19 * 16)) + 132], Y_local[((ax1_0.20 * 512) + (ax2_0.19 * 16)) + 164], Y_local[((ax1_0.20 * 512) + (ax2_0.19 * 16)) + 196], Y_local[((ax1_0.20 * 512) + (ax2_0.19 * 16)) + 228], Y_local[((ax1_0.20 * 512) + (ax2_0.19 * 16)) + 260], Y_local[((ax1_0.20 * 512) + (ax2_0.19 * 16)) + 292], Y_local[((ax1_0.20 * 512) + (ax2_0.19 * 16)) + 324], Y_local[((ax1_0.20 * 512) + (ax2_0.19 * 16)) + 356], Y_local[((ax1_0.20 * 512) + (ax2_0.19 * 16)) + 388], Y_local[((ax1_0.20 * 512) + (ax2_0.19 * 16)) + 420], Y_local[((ax1_0.20 * 512) + (ax2_0.19 * 16)) + 452], Y_local[((ax1_0.20 * 512) + (ax2_0.19 * 16)) + 484])
#             Y[((((((ax2_0.4 * 32) + (ax2_0.19 * 16)) + 5) * h) * w) + (ax0.1 * w)) + ((ax1_0.3 * 128) + (ax1_0.20 * 16))] = pack(Y_local[((ax1_0.20 * 512) + (ax2_0.19 * 16)) + 5], Y_local[((ax1_0.20 * 512) + (ax2_0.19 * 16)) + 37], Y_local[((ax1_0.20 * 512) + (ax2_0.19 * 16)) + 69], Y_local[((ax1_0.20 * 512) + (ax2_0.19 * 16)) + 101], Y_local[((ax1_0.20 * 512) + (ax2_0.19 * 16)) + 133], Y_local[((ax1_0.20 * 512) + (ax2_0.19 * 16)) + 165], Y_local[((ax1_0.20 * 512) + (ax2_0.19 * 16)) + 197], Y_local[((ax1_0.20 * 512) + (ax2_0.19 * 16)) + 229], Y_local[((ax1_0.20 * 512) + (ax2_0.19 * 16)) + 261], Y_local[((ax1_0.20 * 512) + (ax2_0.19 * 16)) + 293], Y_local[((ax1_0.20 * 512) + (ax2_0.19 * 16)) + 325], Y_local[((ax1_0.20 * 512) + (ax2_0.19 * 16)) + 357], Y_local[((ax1_0.20 * 512) + (ax2_0.19 * 16)) + 389], Y_local[((ax1_0.20 * 512) + (ax2_0.19 * 16)) + 421], Y_local[((ax1_0.20 * 512) + (ax2_0.19 * 16)) + 453], Y_local[((ax1_0.20 * 512) + (ax2_0.19 * 16)) + 485])
#             Y[((((((ax2_0.4 * 32) + (ax2_0.19 * 16)) + 6) * h) * w) + (ax0.1 * w)) + ((ax1_0.3 * 128) + (ax1_0.20 * 16))] = pack(Y_local[((ax1_0.20 * 512) + (ax2_0.19 * 16)) + 6], Y_local[((ax1_0.20 * 512) + (ax2_0.19 * 16)) + 38], Y_local[((ax1_0.20 * 512) + (ax2_0.19 * 16)) + 70], Y_local[((ax1_0.20 * 512) + (ax2_0.19 * 16)) + 102], Y_local[((ax1_0.20 * 512) + (ax2_0.19 * 16)) + 134], Y_local[((ax1_0.20 * 512) + (ax2_0.19 * 16)) + 166], Y_local[((ax1_0.20 * 512) + (ax2_0.19 * 16)) + 198], Y_local[((ax1_0.20 * 512) + (ax2_0.19 * 16)) + 230], Y_local[((ax1_0.20 * 512) + (ax2_0.19 * 16)) + 262], Y_local[((ax1_0.20 * 512) + (ax2_0.19 * 16)) + 294], Y_local[((ax1_0.20 * 512) + (ax2_0.19 * 16)) + 326], Y_local[((ax1_0.20 * 512) + (ax2_0.19 * 16)) + 358], Y_local[((ax1_0.20 * 512) + (ax2_0.19 * 16)) + 390], Y_local[((ax1_0.20 * 512) + (ax2_0.19 * 16)) + 422], Y_local[((ax1_0.20 * 512) + (ax2_0.19 * 16)) + 454], Y_local[((ax1_0.20 * 512) + (ax2_0.19 * 16)) + 486])
#             Y[((((((ax2_0.4 * 32) + (ax2_0.19 * 16)) + 7) * h) * w) + (ax0.1 * w)) + ((ax1_0.3 * 128) + (ax1_0.20 * 16))] = pack(Y_local[((ax1_0.20 * 512) + (ax2_0.19 * 16)) + 7], Y_local[((ax1_0.20 * 512) + (ax2_0.19 * 16)) + 39], Y_local[((ax1_0.20 * 512) + (ax2_0.19 * 16)) + 71], Y_local[((ax1_0.20 * 512) + (ax2_0.19 * 16)) + 103], Y_local[((ax1_0.20 * 512) + (ax2_0.19 * 16)) + 135], Y_local[((ax1_0.20 * 512) + (ax2_0.19 * 16)) + 167], Y_local[((ax1_0.20 * 512) + (ax2_0.19 * 16)) + 199], Y_local[((ax1_0.20 * 512) + (ax2_0.19 * 16)) + 231], Y_local[((ax1_0.20 * 512) + (ax2_0.19 * 16)) + 263], Y_local[((ax1_0.20 * 512) + (ax2_0.19 * 16)) + 295], Y_local[((ax1_0.20 * 512) + (ax2_0.19 * 16)) + 327], Y_local[((ax1_0.20 * 512) + (ax2_0.19 * 16)) + 359], Y_local[((ax1_0.20 * 512) + (ax2_0.19 * 16)) + 391], Y_local[((ax1_0.20 * 512) + (ax2_0.19 * 16)) + 423], Y_local[((ax1_0.20 * 512) + (ax2_0.19 * 16)) + 455], Y_local[((ax1_0.20 * 512) + (ax2_0.19 * 16)) + 487])
#             Y[((((((ax2_0.4 * 32) + (ax2_0.19 * 16)) + 8) * h) * w) + (ax0.1 * w)) + ((ax1_0.3 * 128) + (ax1_0.20 * 16))] = pack(Y_local[((ax1_0.20 * 512) + (ax2_0.19 * 16)) + 8], Y_local[((ax1_0.20 * 512) + (ax2_0.19 * 16)) + 40], Y_local[((ax1_0.20 * 512) + (ax2_0.19 * 16)) + 72], Y_local[((ax1_0.20 * 512) + (ax2_0.19 * 16)) + 104], Y_local[((ax1_0.20 * 512) + (ax2_0.19 * 16)) + 136], Y_local[((ax1_0.20 * 512) + (ax2_0.19 * 16)) + 168], Y_local[((ax1_0.20 * 512) + (ax2_0.19 * 16)) + 200], Y_local[((ax1_0.20 * 512) + (ax2_0.19 * 16)) + 232], Y_local[((ax1_0.20 * 512) + (ax2_0.19 * 16)) + 264], Y_local[((ax1_0.20 * 512) + (ax2_0.19 * 16)) + 296], Y_local[((ax1_0.20 * 512) + (ax2_0.19 * 16)) + 328], Y_local[((ax1_0.20 * 512) + (ax2_0.19 * 16)) + 360], Y_local[((ax1_0.20 * 512) + (ax2_0.19 * 16)) + 392], Y_local[((ax1_0.20 * 512) + (ax2_0.19 * 16)) + 424], Y_local[((ax1_0.20 * 512) + (ax2_0.19 * 16)) + 456], Y_local[((ax1_0.20 * 512) + (ax2_0.19 * 16)) + 488])
#             Y[((((((ax2_0.4 * 32) + (ax2_0.19 * 16)) + 9) * h) * w) + (ax0.1 * w)) + ((ax1_0.3 * 128) + (ax1_0.20 * 16))] = pack(Y_local[((ax1_0.20 * 512) + (ax2_0.19 * 16)) + 9], Y_local[((ax1_0.20 * 512) + (ax2_0.19 * 16)) + 41], Y_local[((ax1_0.20 * 512) + (ax2_0.19 * 16)) + 73], Y_local[((ax1_0.20 * 512) + (ax2_0.19 * 16)) + 105], Y_local[((ax1_0.20 * 512) + (ax2_0.19 * 16)) + 137], Y_local[((ax1_0.20 * 512) + (ax2_0.19 * 16)) + 169], Y_local[((ax1_0.20 * 512) + (ax2_0.19 * 16)) + 201], Y_local[((ax1_0.20 * 512) + (ax2_0.19 * 16)) + 233], Y_local[((ax1_0.20 * 512) + (ax2_0.19 * 16)) + 265], Y_local[((ax1_0.20 * 512) + (ax2_0.19 * 16)) + 297], Y_local[((ax1_0.20 * 512) + (ax2_0.19 * 16)) + 329], Y_local[((ax1_0.20 * 512) + (ax2_0.19 * 16)) + 361], Y_local[((ax1_0.20 * 512) + (ax2_0.19 * 16)) + 393], Y_local[((ax1_0.20 * 512) + (ax2_0.19 * 16)) + 425], Y_local[((ax1_0.20 * 512) + (ax2_0.19 * 16)) + 457], Y_local[((ax1_0.20 * 512) + (ax2_0.19 * 16)) + 489])
#             Y[((((((ax2_0.4 * 32) + (ax2_0.19 * 16)) + 10) * h) * w) + (ax0.1 * w)) + ((ax1_0.3 * 128) + (ax1_0.20 * 16))] = pack(Y_local[((ax1_0.20 * 512) + (ax2_0.19 * 16)) + 10], Y_local[((ax1_0.20 * 512) + (ax2_0.19 * 16)) + 42], Y_local[((ax1_0.20 * 512) + (ax2_0.19 * 16)) + 74], Y_local[((ax1_0.20 * 512) + (ax2_0.19 * 16)) + 106], Y_local[((ax1_0.20 * 512) + (ax2_0.19 * 16)) + 138], Y_local[((ax1_0.20 * 512) + (ax2_0.19 * 16)) + 170], Y_local[((ax1_0.20 * 512) + (ax2_0.19 * 16)) + 202], Y_local[((ax1_0.20 * 512) + (ax2_0.19 * 16)) + 234], Y_local[((ax1_0.20 * 512) + (ax2_0.19 * 16)) + 266], Y_local[((ax1_0.20 * 512) + (ax2_0.19 * 16)) + 298], Y_local[((ax1_0.20 * 512) + (ax2_0.19 * 16)) + 330], Y_local[((ax1_0.20 * 512) + (ax2_0.19 * 16)) + 362], Y_local[((ax1_0.20 * 512) + (ax2_0.19 * 16)) + 394], Y_local[((ax1_0.20 * 512) + (ax2_0.19 * 16)) + 426], Y_local[((ax1_0.20 * 512) + (ax2_0.19 * 16)) + 458], Y_local[((ax1_0.20 * 512) + (ax2_0.19 * 16)) + 490])
#             Y[((((((ax2_0.4 * 32) + (ax2_0.19 * 16)) + 11) * h) * w) + (ax0.1 * w)) + ((ax1_0.3 * 128) + (ax1_0.20 * 16))] = pack(Y_local[((ax1_0.20 * 512) + (ax2_0.19 * 16)) + 11], Y_local[((ax1_0.20 * 512) + (ax2_0.19 * 16)) + 43], Y_local[((ax1_0.20 * 512) + (ax2_0.19 * 16)) + 75], Y_local[((ax1_0.20 * 512) + (ax2_0.19 * 16)) + 107], Y_local[((ax1_0.20 * 512) + (ax2_0.19 * 16)) + 139], Y_local[((ax1_0.20 * 512) + (ax2_0.19 * 16)) + 171], Y_local[((ax1_0.20 * 512) + (ax2_0.19 * 16)) + 203], Y_local[((ax1_0.20 * 512) + (ax2_0.19 * 16)) + 235], Y_local[((ax1_0.20 * 512) + (ax2_0.19 * 16)) + 267], Y_local[((ax1_0.20 * 512) + (ax2_0.19 * 16)) + 299], Y_local[((ax1_0.20 * 512) + (ax2_0.19 * 16)) + 331], Y_local[((ax1_0.20 * 512) + (ax2_0.19 * 16)) + 363], Y_local[((ax1_0.20 * 512) + (ax2_0.19 * 16)) + 395], Y_local[((ax1_0.20 * 512) + (ax2_0.19 * 16)) + 427], Y_local[((ax1_0.20 * 512) + (ax2_0.19 * 16)) + 459], Y_local[((ax1_0.20 * 512) + (ax2_0.19 * 16)) + 491])
#             Y[((((((ax2_0.4 * 32) + (ax2_0.19 * 16)) + 12) * h) * w) + (ax0.1 * w)) + ((ax1_0.3 * 128) + (ax1_0.20 * 16))] = pack(Y_local[((ax1_0.20 * 512) + (ax2_0.19 * 16)) + 12], Y_local[((ax1_0.20 * 512) + (ax2_0.19 * 16)) + 44], Y_local[((ax1_0.20 * 512) + (ax2_0.19 * 16)) + 76], Y_local[((ax1_0.20 * 512) + (ax2_0.19 * 16)) + 108], Y_local[((ax1_0.20 * 512) + (ax2_0.19 * 16)) + 140], Y_local[((ax1_0.20 * 512) + (ax2_0.19 * 16)) + 172], Y_local[((ax1_0.20 * 512) + (ax2_0.19 * 16)) + 204], Y_local[((ax1_0.20 * 512) + (ax2_0.19 * 16)) + 236], Y_local[((ax1_0.20 * 512) + (ax2_0.19 * 16)) + 268], Y_local[((ax1_0.20 * 512) + (ax2_0.19 * 16)) + 300], Y_local[((ax1_0.20 * 512) + (ax2_0.19 * 16)) + 332], Y_local[((ax1_0.20 * 512) + (ax2_0.19 * 16)) + 364], Y_local[((ax1_0.20 * 512) + (ax2_0.19 * 16)) + 396], Y_local[((ax1_0.20 * 512) + (ax2_0.19 * 16)) + 428], Y_local[((ax1_0.20 * 512) + (ax2_0.19 * 16)) + 460], Y_local[((ax1_0.20 * 512) + (ax2_0.19 * 16)) + 492])
#             Y[((((((ax2_0.4 * 32) + (ax2_0.19 * 16)) + 13) * h) * w) + (ax0.1 * w)) + ((ax1_0.3 * 128) + (ax1_0.20 * 16))] = pack(Y_local[((ax1_0.20 * 512) + (ax2_0.19 * 16)) + 13], Y_local[((ax1_0.20 * 512) + (ax2_0.19 * 16)) + 45], Y_local[((ax1_0.20 * 512) + (ax2_0.19 * 16)) + 77], Y_local[((ax1_0.20 * 512) + (ax2_0.19 * 16)) + 109], Y_local[((ax1_0.20 * 512) + (ax2_0.19 * 16)) + 141], Y_local[((ax1_0.20 * 512) + (ax2_0.19 * 16)) + 173], Y_local[((ax1_0.20 * 512) + (ax2_0.19 * 16)) + 205], Y_local[((ax1_0.20 * 512) + (ax2_0.19 * 16)) + 237], Y_local[((ax1_0.20 * 512) + (ax2_0.19 * 16)) + 269], Y_local[((ax1_0.20 * 512) + (ax2_0.19 * 16)) + 301], Y_local[((ax1_0.20 * 512) + (ax2_0.19 * 16)) + 333], Y_local[((ax1_0.20 * 512) + (ax2_0.19 * 16)) + 365], Y_local[((ax1_0.20 * 512) + (ax2_0.19 * 16)) + 397], Y_local[((ax1_0.20 * 512) + (ax2_0.19 * 16)) + 429], Y_local[((ax1_0.20 * 512) + (ax2_0.19 * 16)) + 461], Y_local[((ax1_0.20 * 512) + (ax2_0.19 * 16)) + 493])
#             Y[((((((ax2_0.4 * 32) + (ax2_0.19 * 16)) + 14) * h) * w) + (ax0.1 * w)) + ((ax1_0.3 * 128) + (ax1_0.20 * 16))] = pack(Y_local[((ax1_0.20 * 512) + (ax2_0.19 * 16)) + 14], Y_local[((ax1_0.20 * 512) + (ax2_0.19 * 16)) + 46], Y_local[((ax1_0.20 * 512) + (ax2_0.19 * 16)) + 78], Y_local[((ax1_0.20 * 512) + (ax2_0.19 * 16)) + 110], Y_local[((ax1_0.20 * 512) + (ax2_0.19 * 16)) + 142], Y_local[((ax1_0.20 * 512) + (ax2_0.19 * 16)) + 174], Y_local[((ax1_0.20 * 512) + (ax2_0.19 * 16)) + 206], Y_local[((ax1_0.20 * 512) + (ax2_0.19 * 16)) + 238], Y_local[((ax1_0.20 * 512) + (ax2_0.19 * 16)) + 270], Y_local[((ax1_0.20 * 512) + (ax2_0.19 * 16)) + 302], Y_local[((ax1_0.20 * 512) + (ax2_0.19 * 16)) + 334], Y_local[((ax1_0.20 * 512) + (ax2_0.19 * 16)) + 366], Y_local[((ax1_0.20 * 512) + (ax2_0.19 * 16)) + 398], Y_local[((ax1_0.20 * 512) + (ax2_0.19 * 16)) + 430], Y_local[((ax1_0.20 * 512) + (ax2_0.19 * 16)) + 462], Y_local[((ax1_0.20 * 512) + (ax2_0.19 * 16)) + 494])
#             Y[((((((ax2_0.4 * 32) + (ax2_0.19 * 16)) + 15) * h) * w) + (ax0.1 * w)) + ((ax1_0.3 * 128) + (ax1_0.20 * 16))] = pack(Y_local[((ax1_0.20 * 512) + (ax2_0.19 * 16)) + 15], Y_local[((ax1_0.20 * 512) + (ax2_0.19 * 16)) + 47], Y_local[((ax1_0.20 * 512) + (ax2_0.19 * 16)) + 79], Y_local[((ax1_0.20 * 512) + (ax2_0.19 * 16)) + 111], Y_local[((ax1_0.20 * 512) + (ax2_0.19 * 16)) + 143], Y_local[((ax1_0.20 * 512) + (ax2_0.19 * 16)) + 175], Y_local[((ax1_0.20 * 512) + (ax2_0.19 * 16)) + 207], Y_local[((ax1_0.20 * 512) + (ax2_0.19 * 16)) + 239], Y_local[((ax1_0.20 * 512) + (ax2_0.19 * 16)) + 271], Y_local[((ax1_0.20 * 512) + (ax2_0.19 * 16)) + 303], Y_local[((ax1_0.20 * 512) + (ax2_0.19 * 16)) + 335], Y_local[((ax1_0.20 * 512) + (ax2_0.19 * 16)) + 367], Y_local[((ax1_0.20 * 512) + (ax2_0.19 * 16)) + 399], Y_local[((ax1_0.20 * 512) + (ax2_0.19 * 16)) + 431], Y_local[((ax1_0.20 * 512) + (ax2_0.19 * 16)) + 463], Y_local[((ax1_0.20 * 512) + (ax2_0.19 * 16)) + 495])
#     for ax1_0.22 from 0, size.21 times:
#       for ax2_0.23 from 0, 4 times:
#         for ax1_1_init.25 from 0, size.24 times:
#           Y_local[ax1_1_init.25 * 256] = splat16(0.0)
#           Y_local[(ax1_1_init.25 * 256) + 16] = splat16(0.0)
#           Y_local[(ax1_1_init.25 * 256) + 32] = splat16(0.0)
#           Y_local[(ax1_1_init.25 * 256) + 48] = splat16(0.0)
#           Y_local[(ax1_1_init.25 * 256) + 64] = splat16(0.0)
#           Y_local[(ax1_1_init.25 * 256) + 80] = splat16(0.0)
#           Y_local[(ax1_1_init.25 * 256) + 96] = splat16(0.0)
#           Y_local[(ax1_1_init.25 * 256) + 112] = splat16(0.0)
#           Y_local[(ax1_1_init.25 * 256) + 128] = splat16(0.0)
#           Y_local[(ax1_1_init.25 * 256) + 144] = splat16(0.0)
#           Y_local[(ax1_1_init.25 * 256) + 160] = splat16(0.0)
#           Y_local[(ax1_1_init.25 * 256) + 176] = splat16(0.0)
#           Y_local[(ax1_1_init.25 * 256) + 192] = splat16(0.0)
#           Y_local[(ax1_1_init.25 * 256) + 208] = splat16(0.0)
#           Y_local[(ax1_1_init.25 * 256) + 224] = splat16(0.0)
#           Y_local[(ax1_1_init.25 * 256) + 240] = splat16(0.0)
#         for ax0.26 from 0, 32 times:
#           for ax1.27 from 0, 32 times:
#             W_local[(ax1.27 * 32) + ax0.26] = W[((ax2_0.23 * 1024) + (ax0.26 * 32)) + ax1.27]
#         for ax1_1.29 from 0, size.28 times:
#           Y_local_cell.41[0] = Y_local[ax1_1.29 * 256 : 16]
#           Y_local_cell.42[0] = Y_local[(ax1_1.29 * 256) + 16 : 16]
#           Y_local_cell.43[0] = Y_local[(ax1_1.29 * 256) + 32 : 16]
#           Y_local_cell.44[0] = Y_local[(ax1_1.29 * 256) + 48 : 16]
#           Y_local_cell.45[0] = Y_local[(ax1_1.29 * 256) + 64 : 16]
#           Y_local_cell.46[0] = Y_local[(ax1_1.29 * 256) + 80 : 16]
#           Y_local_cell.47[0] = Y_local[(ax1_1.29 * 256) + 96 : 16]
#           Y_local_cell.48[0] = Y_local[(ax1_1.29 * 256) + 112 : 16]
#           Y_local_cell.49[0] = Y_local[(ax1_1.29 * 256) + 128 : 16]
#           Y_local_cell.50[0] = Y_local[(ax1_1.29 * 256) + 144 : 16]
#           Y_local_cell.51[0] = Y_local[(ax1_1.29 * 256) + 160 : 16]
#           Y_local_cell.52[0] = Y_local[(ax1_1.29 * 256) + 176 : 16]
#           Y_local_cell.53[0] = Y_local[(ax1_1.29 * 256) + 192 : 16]
#           Y_local_cell.54[0] = Y_local[(ax1_1.29 * 256) + 208 : 16]
#           Y_local_cell.55[0] = Y_local[(ax1_1.29 * 256) + 224 : 16]
#           Y_local_cell.56[0] = Y_local[(ax1_1.29 * 256) + 240 : 16]
#           for ax3_1.30 from 0, 32 times:
#             Y_local_cell.41[0] = Y_local_cell.41[0 : 16] + (splat16(X_global[(((ax0.1 * 32) + ax3_1.30) * w) + ((size.2 * 128) + (ax1_1.29 * 8))]) * W_local[ax3_1.30 * 32 : 16])
#             Y_local_cell.42[0] = Y_local_cell.42[0 : 16] + (splat16(X_global[(((ax0.1 * 32) + ax3_1.30) * w) + ((size.2 * 128) + (ax1_1.29 * 8))]) * W_local[(ax3_1.30 * 32) + 16 : 16])
#             Y_local_cell.43[0] = Y_local_cell.43[0 : 16] + (splat16(X_global[(((ax0.1 * 32) + ax3_1.30) * w) + (((size.2 * 128) + (ax1_1.29 * 8)) + 1)]) * W_local[ax3_1.30 * 32 : 16])
#             Y_local_cell.44[0] = Y_local_cell.44[0 : 16] + (splat16(X_global[(((ax0.1 * 32) + ax3_1.30) * w) + (((size.2 * 128) + (ax1_1.29 * 8)) + 1)]) * W_local[(ax3_1.30 * 32) + 16 : 16])
#             Y_local_cell.45[0] = Y_local_cell.45[0 : 16] + (splat16(X_global[(((ax0.1 * 32) + ax3_1.30) * w) + (((size.2 * 128) + (ax1_1.29 * 8)) + 2)]) * W_local[ax3_1.30 * 32 : 16])
#             Y_local_cell.46[0] = Y_local_cell.46[0 : 16] + (splat16(X_global[(((ax0.1 * 32) + ax3_1.30) * w) + (((size.2 * 128) + (ax1_1.29 * 8)) + 2)]) * W_local[(ax3_1.30 * 32) + 16 : 16])
#             Y_local_cell.47[0] = Y_local_cell.47[0 : 16] + (splat16(X_global[(((ax0.1 * 32) + ax3_1.30) * w) + (((size.2 * 128) + (ax1_1.29 * 8)) + 3)]) * W_local[ax3_1.30 * 32 : 16])
#             Y_local_cell.48[0] = Y_local_cell.48[0 : 16] + (splat16(X_global[(((ax0.1 * 32) + ax3_1.30) * w) + (((size.2 * 128) + (ax1_1.29 * 8)) + 3)]) * W_local[(ax3_1.30 * 32) + 16 : 16])
#             Y_local_cell.49[0] = Y_local_cell.49[0 : 16] + (splat16(X_global[(((ax0.1 * 32) + ax3_1.30) * w) + (((size.2 * 128) + (ax1_1.29 * 8)) + 4)]) * W_local[ax3_1.30 * 32 : 16])
#             Y_local_cell.50[0] = Y_local_cell.50[0 : 16] + (splat16(X_global[(((ax0.1 * 32) + ax3_1.30) * w) + (((size.2 * 128) + (ax1_1.29 * 8)) + 4)]) * W_local[(ax3_1.30 * 32) + 16 : 16])
#             Y_local_cell.51[0] = Y_local_cell.51[0 : 16] + (splat16(X_global[(((ax0.1 * 32) + ax3_1.30) * w) + (((size.2 * 128) + (ax1_1.29 * 8)) + 5)]) * W_local[ax3_1.30 * 32 : 16])
#             Y_local_cell.52[0] = Y_local_cell.52[0 : 16] + (splat16(X_global[(((ax0.1 * 32) + ax3_1.30) * w) + (((size.2 * 128) + (ax1_1.29 * 8)) + 5)]) * W_local[(ax3_1.30 * 32) + 16 : 16])
#             Y_local_cell.53[0] = Y_local_cell.53[0 : 16] + (splat16(X_global[(((ax0.1 * 32) + ax3_1.30) * w) + (((size.2 * 128) + (ax1_1.29 * 8)) + 6)]) * W_local[ax3_1.30 * 32 : 16])
#             Y_local_cell.54[0] = Y_local_cell.54[0 : 16] + (splat16(X_global[(((ax0.1 * 32) + ax3_1.30) * w) + (((size.2 * 128) + (ax1_1.29 * 8)) + 6)]) * W_local[(ax3_1.30 * 32) + 16 : 16])
#             Y_local_cell.55[0] = Y_local_cell.55[0 : 16] + (splat16(X_global[(((ax0.1 * 32) + ax3_1.30) * w) + (((size.2 * 128) + (ax1_1.29 * 8)) + 7)]) * W_local[ax3_1.30 * 32 : 16])
#             Y_local_cell.56[0] = Y_local_cell.56[0 : 16] + (splat16(X_global[(((ax0.1 * 32) + ax3_1.30) * w) + (((size.2 * 128) + (ax1_1.29 * 8)) + 7)]) * W_local[(ax3_1.30 * 32) + 16 : 16])
#           Y_local[ax1_1.29 * 256] = Y_local_cell.41[0 : 16]
#           Y_local[(ax1_1.29 * 256) + 16] = Y_local_cell.42[0 : 16]
#           Y_local[(ax1_1.29 * 256) + 32] = Y_local_cell.43[0 : 16]
#           Y_local[(ax1_1.29 * 256) + 48] = Y_local_cell.44[0 : 16]
#           Y_local[(ax1_1.29 * 256) + 64] = Y_local_cell.45[0 : 16]
#           Y_local[(ax1_1.29 * 256) + 80] = Y_local_cell.46[0 : 16]
#           Y_local[(ax1_1.29 * 256) + 96] = Y_local_cell.47[0 : 16]
#           Y_local[(ax1_1.29 * 256) + 112] = Y_local_cell.48[0 : 16]
#           Y_local[(ax1_1.29 * 256) + 128] = Y_local_cell.49[0 : 16]
#           Y_local[(ax1_1.29 * 256) + 144] = Y_local_cell.50[0 : 16]
#           Y_local[(ax1_1.29 * 256) + 160] = Y_local_cell.51[0 : 16]
#           Y_local[(ax1_1.29 * 256) + 176] = Y_local_cell.52[0 : 16]
#           Y_local[(ax1_1.29 * 256) + 192] = Y_local_cell.53[0 : 16]
#           Y_local[(ax1_1.29 * 256) + 208] = Y_local_cell.54[0 : 16]
#           Y_local[(ax1_1.29 * 256) + 224] = Y_local_cell.55[0 : 16]
#           Y_local[(ax1_1.29 * 256) + 240] = Y_local_cell.56[0 : 16]
#         let rest.32 = size.31
#         let ax1_1.34 = size.33
#         if (rest.32 >> 2) == 1:
#           Y_local_cell.57[0] = Y_local[ax1_1.34 * 256 : 16]
#           Y_local_cell.58[0] = Y_local[(ax1_1.34 * 256) + 16 : 16]
#           Y_local_cell.59[0] = Y_local[(ax1_1.34 * 256) + 32 : 16]
#           Y_local_cell.60[0] = Y_local[(ax1_1.34 * 256) + 48 : 16]
#           Y_local_cell.61[0] = Y_local[(ax1_1.34 * 256) + 64 : 16]
#           Y_local_cell.62[0] = Y_local[(ax1_1.34 * 256) + 80 : 16]
#           Y_local_cell.63[0] = Y_local[(ax1_1.34 * 256) + 96 : 16]
#           Y_local_cell.64[0] = Y_local[(ax1_1.34 * 256) + 112 : 16]
#           for ax3_1.35 from 0, 32 times:
#             Y_local_cell.57[0] = Y_local_cell.57[0 : 16] + (splat16(X_global[(((ax0.1 * 32) + ax3_1.35) * w) + min(((size.2 * 128) + (ax1_1.34 * 8)), (w - 1))]) * W_local[ax3_1.35 * 32 : 16])
#             Y_local_cell.58[0] = Y_local_cell.58[0 : 16] + (splat16(X_global[(((ax0.1 * 32) + ax3_1.35) * w) + min(((size.2 * 128) + (ax1_1.34 * 8)), (w - 1))]) * W_local[(ax3_1.35 * 32) + 16 : 16])
#             Y_local_cell.59[0] = Y_local_cell.59[0 : 16] + (splat16(X_global[(((ax0.1 * 32) + ax3_1.35) * w) + min((((size.2 * 128) + (ax1_1.34 * 8)) + 1), (w - 1))]) * W_local[ax3_1.35 * 32 : 16])
#             Y_local_cell.60[0] = Y_local_cell.60[0 : 16] + (splat16(X_global[(((ax0.1 * 32) + ax3_1.35) * w) + min((((size.2 * 128) + (ax1_1.34 * 8)) + 1), (w - 1))]) * W_local[(ax3_1.35 * 32) + 16 : 16])
#             Y_local_cell.61[0] = Y_local_cell.61[0 : 16] + (splat16(X_global[(((ax0.1 * 32) + ax3_1.35) * w) + min((((size.2 * 128) + (ax1_1.34 * 8)) + 2), (w - 1))]) * W_local[ax3_1.35 * 32 : 16])
#             Y_local_cell.62[0] = Y_local_cell.62[0 : 16] + (splat16(X_global[(((ax0.1 * 32) + ax3_1.35) * w) + min((((size.2 * 128) + (ax1_1.34 * 8)) + 2), (w - 1))]) * W_local[(ax3_1.35 * 32) + 16 : 16])
#             Y_local_cell.63[0] = Y_local_cell.63[0 : 16] + (splat16(X_global[(((ax0.1 * 32) + ax3_1.35) * w) + min((((size.2 * 128) + (ax1_1.34 * 8)) + 3), (w - 1))]) * W_local[ax3_1.35 * 32 : 16])
#             Y_local_cell.64[0] = Y_local_cell.64[0 : 16] + (splat16(X_global[(((ax0.1 * 32) + ax3_1.35) * w) + min((((size.2 * 128) + (ax1_1.34 * 8)) + 3), (w - 1))]) * W_local[(ax3_1.35 * 32) + 16 : 16])
#           Y_local[ax1_1.34 * 256] = Y_local_cell.57[0 : 16]
#           Y_local[(ax1_1.34 * 256) + 16] = Y_local_cell.58[0 : 16]
#           Y_local[(ax1_1.34 * 256) + 32] = Y_local_cell.59[0 : 16]
#           Y_local[(ax1_1.34 * 256) + 48] = Y_local_cell.60[0 : 16]
#           Y_local[(ax1_1.34 * 256) + 64] = Y_local_cell.61[0 : 16]
#           Y_local[(ax1_1.34 * 256) + 80] = Y_local_cell.62[0 : 16]
#           Y_local[(ax1_1.34 * 256) + 96] = Y_local_cell.63[0 : 16]
#           Y_local[(ax1_1.34 * 256) + 112] = Y_local_cell.64[0 : 16]
#         if (rest.32 & 3) == 3:
#           Y_local_cell.65[0] = Y_local[(ax1_1.34 * 256) + ((rest.32 >> 2) * 128) : 16]
#           Y_local_cell.66[0] = Y_local[((ax1_1.34 * 256) + ((rest.32 >> 2) * 128)) + 16 : 16]
#           Y_local_cell.67[0] = Y_local[((ax1_1.34 * 256) + ((rest.32 >> 2) * 128)) + 32 : 16]
#           Y_local_cell.68[0] = Y_local[((ax1_1.34 * 256) + ((rest.32 >> 2) * 128)) + 48 : 16]
#           Y_local_cell.69[0] = Y_local[((ax1_1.34 * 256) + ((rest.32 >> 2) * 128)) + 64 : 16]
#           Y_local_cell.70[0] = Y_local[((ax1_1.34 * 256) + ((rest.32 >> 2) * 128)) + 80 : 16]
#           for ax3_1.36 from 0, 32 times:
#             Y_local_cell.65[0] = Y_local_cell.65[0 : 16] + (splat16(X_global[(((ax0.1 * 32) + ax3_1.36) * w) + min((((size.2 * 128) + (ax1_1.34 * 8)) + ((rest.32 >> 2) * 4)), (w - 1))]) * W_local[ax3_1.36 * 32 : 16])
#             Y_local_cell.66[0] = Y_local_cell.66[0 : 16] + (splat16(X_global[(((ax0.1 * 32) + ax3_1.36) * w) + min((((size.2 * 128) + (ax1_1.34 * 8)) + ((rest.32 >> 2) * 4)), (w - 1))]) * W_local[(ax3_1.36 * 32) + 16 : 16])
#             Y_local_cell.67[0] = Y_local_cell.67[0 : 16] + (splat16(X_global[(((ax0.1 * 32) + ax3_1.36) * w) + min((((size.2 * 128) + (ax1_1.34 * 8)) + (((rest.32 >> 2) * 4) + 1)), (w - 1))]) * W_local[ax3_1.36 * 32 : 16])
#             Y_local_cell.68[0] = Y_local_cell.68[0 : 16] + (splat16(X_global[(((ax0.1 * 32) + ax3_1.36) * w) + min((((size.2 * 128) + (ax1_1.34 * 8)) + (((rest.32 >> 2) * 4) + 1)), (w - 1))]) * W_local[(ax3_1.36 * 32) + 16 : 16])
#             Y_local_cell.69[0] = Y_local_cell.69[0 : 16] + (splat16(X_global[(((ax0.1 * 32) + ax3_1.36) * w) + min((((size.2 * 128) + (ax1_1.34 * 8)) + (((rest.32 >> 2) * 4) + 2)), (w - 1))]) * W_local[ax3_1.36 * 32 : 16])
#             Y_local_cell.70[0] = Y_local_cell.70[0 : 16] + (splat16(X_global[(((ax0.1 * 32) + ax3_1.36) * w) + min((((size.2 * 128) + (ax1_1.34 * 8)) + (((rest.32 >> 2) * 4) + 2)), (w - 1))]) * W_local[(ax3_1.36 * 32) + 16 : 16])
#           Y_local[(ax1_1.34 * 256) + ((rest.32 >> 2) * 128)] = Y_local_cell.65[0 : 16]
#           Y_local[((ax1_1.34 * 256) + ((rest.32 >> 2) * 128)) + 16] = Y_local_cell.66[0 : 16]
#           Y_local[((ax1_1.34 * 256) + ((rest.32 >> 2) * 128)) + 32] = Y_local_cell.67[0 : 16]
#           Y_local[((ax1_1.34 * 256) + ((rest.32 >> 2) * 128)) + 48] = Y_local_cell.68[0 : 16]
#           Y_local[((ax1_1.34 * 256) + ((rest.32 >> 2) * 128)) + 64] = Y_local_cell.69[0 : 16]
#           Y_local[((ax1_1.34 * 256) + ((rest.32 >> 2) * 128)) + 80] = Y_local_cell.70[0 : 16]
#         if (rest.32 & 3) == 2:
#           Y_local_cell.71[0] = Y_local[(ax1_1.34 * 256) + ((rest.32 >> 2) * 128) : 16]
#           Y_local_cell.72[0] = Y_local[((ax1_1.34 * 256) + ((rest.32 >> 2) * 128)) + 16 : 16]
#           Y_local_cell.73[0] = Y_local[((ax1_1.34 * 256) + ((rest.32 >> 2) * 128)) + 32 : 16]
#           Y_local_cell.74[0] = Y_local[((ax1_1.34 * 256) + ((rest.32 >> 2) * 128)) + 48 : 16]
#           for ax3_1.37 from 0, 32 times:
#             Y_local_cell.71[0] = Y_local_cell.71[0 : 16] + (splat16(X_global[(((ax0.1 * 32) + ax3_1.37) * w) + min((((size.2 * 128) + (ax1_1.34 * 8)) + ((rest.32 >> 2) * 4)), (w - 1))]) * W_local[ax3_1.37 * 32 : 16])
#             Y_local_cell.72[0] = Y_local_cell.72[0 : 16] + (splat16(X_global[(((ax0.1 * 32) + ax3_1.37) * w) + min((((size.2 * 128) + (ax1_1.34 * 8)) + ((rest.32 >> 2) * 4)), (w - 1))]) * W_local[(ax3_1.37 * 32) + 16 : 16])
#             Y_local_cell.73[0] = Y_local_cell.73[0 : 16] + (splat16(X_global[(((ax0.1 * 32) + ax3_1.37) * w) + min((((size.2 * 128) + (ax1_1.34 * 8)) + (((rest.32 >> 2) * 4) + 1)), (w - 1))]) * W_local[ax3_1.37 * 32 : 16])
#             Y_local_cell.74[0] = Y_local_cell.74[0 : 16] + (splat16(X_global[(((ax0.1 * 32) + ax3_1.37) * w) + min((((size.2 * 128) + (ax1_1.34 * 8)) + (((rest.32 >> 2) * 4) + 1)), (w - 1))]) * W_local[(ax3_1.37 * 32) + 16 : 16])
#           Y_local[(ax1_1.34 * 256) + ((rest.32 >> 2) * 128)] = Y_local_cell.71[0 : 16]
#           Y_local[((ax1_1.34 * 256) + ((rest.32 >> 2) * 128)) + 16] = Y_local_cell.72[0 : 16]
#           Y_local[((ax1_1.34 * 256) + ((rest.32 >> 2) * 128)) + 32] = Y_local_cell.73[0 : 16]
#           Y_local[((ax1_1.34 * 256) + ((rest.32 >> 2) * 128)) + 48] = Y_local_cell.74[0 : 16]
#         if (rest.32 & 3) == 1:
#           Y_local_cell.75[0] = Y_local[(ax1_1.34 * 256) + ((rest.32 >> 2) * 128) : 16]
#           Y_local_cell.76[0] = Y_local[((ax1_1.34 * 256) + ((rest.32 >> 2) * 128)) + 16 : 16]
#           for ax3_1.38 from 0, 32 times:
#             Y_local_cell.75[0] = Y_local_cell.75[0 : 16] + (splat16(X_global[(((ax0.1 * 32) + ax3_1.38) * w) + min((((size.2 * 128) + (ax1_1.34 * 8)) + ((rest.32 >> 2) * 4)), (w - 1))]) * W_local[ax3_1.38 * 32 : 16])
#             Y_local_cell.76[0] = Y_local_cell.76[0 : 16] + (splat16(X_global[(((ax0.1 * 32) + ax3_1.38) * w) + min((((size.2 * 128) + (ax1_1.34 * 8)) + ((rest.32 >> 2) * 4)), (w - 1))]) * W_local[(ax3_1.38 * 32) + 16 : 16])
#           Y_local[(ax1_1.34 * 256) + ((rest.32 >> 2) * 128)] = Y_local_cell.75[0 : 16]
#           Y_local[((ax1_1.34 * 256) + ((rest.32 >> 2) * 128)) + 16] = Y_local_cell.76[0 : 16]
#         for ax2_0.39 from 0, 2 times:
#           for ax1_0.41 from 0, size.40 times:
#             Y[(((((ax2_0.23 * 32) + (ax2_0.39 * 16)) * h) * w) + (ax0.1 * w)) + ((size.2 * 128) + (ax1_0.41 * 16))] = pack(Y_local[(ax1_0.41 * 512) + (ax2_0.39 * 16)], Y_local[((ax1_0.41 * 512) + (ax2_0.39 * 16)) + 32], Y_local[((ax1_0.41 * 512) + (ax2_0.39 * 16)) + 64], Y_local[((ax1_0.41 * 512) + (ax2_0.39 * 16)) + 96], Y_local[((ax1_0.41 * 512) + (ax2_0.39 * 16)) + 128], Y_local[((ax1_0.41 * 512) + (ax2_0.39 * 16)) + 160], Y_local[((ax1_0.41 * 512) + (ax2_0.39 * 16)) + 192], Y_local[((ax1_0.41 * 512) + (ax2_0.39 * 16)) + 224], Y_local[((ax1_0.41 * 512) + (ax2_0.39 * 16)) + 256], Y_local[((ax1_0.41 * 512) + (ax2_0.39 * 16)) + 288], Y_local[((ax1_0.41 * 512) + (ax2_0.39 * 16)) + 320], Y_local[((ax1_0.41 * 512) + (ax2_0.39 * 16)) + 352], Y_local[((ax1_0.41 * 512) + (ax2_0.39 * 16)) + 384], Y_local[((ax1_0.41 * 512) + (ax2_0.39 * 16)) + 416], Y_local[((ax1_0.41 * 512) + (ax2_0.39 * 16)) + 448], Y_local[((ax1_0.41 * 512) + (ax2_0.39 * 16)) + 480])
#             Y[((((((ax2_0.23 * 32) + (ax2_0.39 * 16)) + 1) * h) * w) + (ax0.1 * w)) + ((size.2 * 128) + (ax1_0.41 * 16))] = pack(Y_local[((ax1_0.41 * 512) + (ax2_0.39 * 16)) + 1], Y_local[((ax1_0.41 * 512) + (ax2_0.39 * 16)) + 33], Y_local[((ax1_0.41 * 512) + (ax2_0.39 * 16)) + 65], Y_local[((ax1_0.41 * 512) + (ax2_0.39 * 16)) + 97], Y_local[((ax1_0.41 * 512) + (ax2_0.39 * 16)) + 129], Y_local[((ax1_0.41 * 512) + (ax2_0.39 * 16)) + 161], Y_local[((ax1_0.41 * 512) + (ax2_0.39 * 16)) + 193], Y_local[((ax1_0.41 * 512) + (ax2_0.39 * 16)) + 225], Y_local[((ax1_0.41 * 512) + (ax2_0.39 * 16)) + 257], Y_local[((ax1_0.41 * 512) + (ax2_0.39 * 16)) + 289], Y_local[((ax1_0.41 * 512) + (ax2_0.39 * 16)) + 321], Y_local[((ax1_0.41 * 512) + (ax2_0.39 * 16)) + 353], Y_local[((ax1_0.41 * 512) + (ax2_0.39 * 16)) + 385], Y_local[((ax1_0.41 * 512) + (ax2_0.39 * 16)) + 417], Y_local[((ax1_0.41 * 512) + (ax2_0.39 * 16)) + 449], Y_local[((ax1_0.41 * 512) + (ax2_0.39 * 16)) + 481])
#             Y[((((((ax2_0.23 * 32) + (ax2_0.39 * 16)) + 2) * h) * w) + (ax0.1 * w)) + ((size.2 * 128) + (ax1_0.41 * 16))] = pack(Y_local[((ax1_0.41 * 512) + (ax2_0.39 * 16)) + 2], Y_local[((ax1_0.41 * 512) + (ax2_0.39 * 16)) + 34], Y_local[((ax1_0.41 * 512) + (ax2_0.39 * 16)) + 66], Y_local[((ax1_0.41 * 512) + (ax2_0.39 * 16)) + 98], Y_local[((ax1_0.41 * 512) + (ax2_0.39 * 16)) + 130], Y_local[((ax1_0.41 * 512) + (ax2_0.39 * 16)) + 162], Y_local[((ax1_0.41 * 512) + (ax2_0.39 * 16)) + 194], Y_local[((ax1_0.41 * 512) + (ax2_0.39 * 16)) + 226], Y_local[((ax1_0.41 * 512) + (ax2_0.39 * 16)) + 258], Y_local[((ax1_0.41 * 512) + (ax2_0.39 * 16)) + 290], Y_local[((ax1_0.41 * 512) + (ax2_0.39 * 16)) + 322], Y_local[((ax1_0.41 * 512) + (ax2_0.39 * 16)) + 354], Y_local[((ax1_0.41 * 512) + (ax2_0.39 * 16)) + 386], Y_local[((ax1_0.41 * 512) + (ax2_0.39 * 16)) + 418], Y_local[((ax1_0.41 * 512) + (ax2_0.39 * 16)) + 450], Y_local[((ax1_0.41 * 512) + (ax2_0.39 * 16)) + 482])
#             Y[((((((ax2_0.23 * 32) + (ax2_0.39 * 16)) + 3) * h) * w) + (ax0.1 * w)) + ((size.2 * 128) + (ax1_0.41 * 16))] = pack(Y_local[((ax1_0.41 * 512) + (ax2_0.39 * 16)) + 3], Y_local[((ax1_0.41 * 512) + (ax2_0.39 * 16)) + 35], Y_local[((ax1_0.41 * 512) + (ax2_0.39 * 16)) + 67], Y_local[((ax1_0.41 * 512) + (ax2_0.39 * 16)) + 99], Y_local[((ax1_0.41 * 512) + (ax2_0.39 * 16)) + 131], Y_local[((ax1_0.41 * 512) + (ax2_0.39 * 16)) + 163], Y_local[((ax1_0.41 * 512) + (ax2_0.39 * 16)) + 195], Y_local[((ax1_0.41 * 512) + (ax2_0.39 * 16)) + 227], Y_local[((ax1_0.41 * 512) + (ax2_0.39 * 16)) + 259], Y_local[((ax1_0.41 * 512) + (ax2_0.39 * 16)) + 291], Y_local[((ax1_0.41 * 512) + (ax2_0.39 * 16)) + 323], Y_local[((ax1_0.41 * 512) + (ax2_0.39 * 16)) + 355], Y_local[((ax1_0.41 * 512) + (ax2_0.39 * 16)) + 387], Y_local[((ax1_0.41 * 512) + (ax2_0.39 * 16)) + 419], Y_local[((ax1_0.41 * 512) + (ax2_0.39 * 16)) + 451], Y_local[((ax1_0.41 * 512) + (ax2_0.39 * 16)) + 483])
#             Y[((((((ax2_0.23 * 32) + (ax2_0.39 * 16)) + 4) * h) * w) + (ax0.1 * w)) + ((size.2 * 128) + (ax1_0.41 * 16))] = pack(Y_local[((ax1_0.41 * 512) + (ax2_0.39 * 16)) + 4], Y_local[((ax1_0.41 * 512) + (ax2_0.39 * 16)) + 36], Y_local[((ax1_0.41 * 512) + (ax2_0.39 * 16)) + 68], Y_local[((ax1_0.41 * 512) + (ax2_0.39 * 16)) + 100], Y_local[((ax1_0.41 * 512) + (ax2_0.39 * 16)) + 132], Y_local[((ax1_0.41 * 512) + (ax2_0.39 * 16)) + 164], Y_local[((ax1_0.41 * 512) + (ax2_0.39 * 16)) + 196], Y_local[((ax1_0.41 * 512) + (ax2_0.39 * 16)) + 228], Y_local[((ax1_0.41 * 512) + (ax2_0.39 * 16)) + 260], Y_local[((ax1_0.41 * 512) + (ax2_0.39 * 16)) + 292], Y_local[((ax1_0.41 * 512) + (ax2_0.39 * 16)) + 324], Y_local[((ax1_0.41 * 512) + (ax2_0.39 * 16)) + 356], Y_local[((ax1_0.41 * 512) + (ax2_0.39 * 16)) + 388], Y_local[((ax1_0.41 * 512) + (ax2_0.39 * 16)) + 420], Y_local[((ax1_0.41 * 512) + (ax2_0.39 * 16)) + 452], Y_local[((ax1_0.41 * 512) + (ax2_0.39 * 16)) + 484])
#             Y[((((((ax2_0.23 * 32) + (ax2_0.39 * 16)) + 5) * h) * w) + (ax0.1 * w)) + ((size.2 * 128) + (ax1_0.41 * 16))] = pack(Y_local[((ax1_0.41 * 512) + (ax2_0.39 * 16)) + 5], Y_local[((ax1_0.41 * 512) + (ax2_0.39 * 16)) + 37], Y_local[((ax1_0.41 * 512) + (ax2_0.39 * 16)) + 69], Y_local[((ax1_0.41 * 512) + (ax2_0.39 * 16)) + 101], Y_local[((ax1_0.41 * 512) + (ax2_0.39 * 16)) + 133], Y_local[((ax1_0.41 * 512) + (ax2_0.39 * 16)) + 165], Y_local[((ax1_0.41 * 512) + (ax2_0.39 * 16)) + 197], Y_local[((ax1_0.41 * 512) + (ax2_0.39 * 16)) + 229], Y_local[((ax1_0.41 * 512) + (ax2_0.39 * 16)) + 261], Y_local[((ax1_0.41 * 512) + (ax2_0.39 * 16)) + 293], Y_local[((ax1_0.41 * 512) + (ax2_0.39 * 16)) + 325], Y_local[((ax1_0.41 * 512) + (ax2_0.39 * 16)) + 357], Y_local[((ax1_0.41 * 512) + (ax2_0.39 * 16)) + 389], Y_local[((ax1_0.41 * 512) + (ax2_0.39 * 16)) + 421], Y_local[((ax1_0.41 * 512) + (ax2_0.39 * 16)) + 453], Y_local[((ax1_0.41 * 512) + (ax2_0.39 * 16)) + 485])
#             Y[((((((ax2_0.23 * 32) + (ax2_0.39 * 16)) + 6) * h) * w) + (ax0.1 * w)) + ((size.2 * 128) + (ax1_0.41 * 16))] = pack(Y_local[((ax1_0.41 * 512) + (ax2_0.39 * 16)) + 6], Y_local[((ax1_0.41 * 512) + (ax2_0.39 * 16)) + 38], Y_local[((ax1_0.41 * 512) + (ax2_0.39 * 16)) + 70], Y_local[((ax1_0.41 * 512) + (ax2_0.39 * 16)) + 102], Y_local[((ax1_0.41 * 512) + (ax2_0.39 * 16)) + 134], Y_local[((ax1_0.41 * 512) + (ax2_0.39 * 16)) + 166], Y_local[((ax1_0.41 * 512) + (ax2_0.39 * 16)) + 198], Y_local[((ax1_0.41 * 512) + (ax2_0.39 * 16)) + 230], Y_local[((ax1_0.41 * 512) + (ax2_0.39 * 16)) + 262], Y_local[((ax1_0.41 * 512) + (ax2_0.39 * 16)) + 294], Y_local[((ax1_0.41 * 512) + (ax2_0.39 * 16)) + 326], Y_local[((ax1_0.41 * 512) + (ax2_0.39 * 16)) + 358], Y_local[((ax1_0.41 * 512) + (ax2_0.39 * 16)) + 390], Y_local[((ax1_0.41 * 512) + (ax2_0.39 * 16)) + 422], Y_local[((ax1_0.41 * 512) + (ax2_0.39 * 16)) + 454], Y_local[((ax1_0.41 * 512) + (ax2_0.39 * 16)) + 486])
#             Y[((((((ax2_0.23 * 32) + (ax2_0.39 * 16)) + 7) * h) * w) + (ax0.1 * w)) + ((size.2 * 128) + (ax1_0.41 * 16))] = pack(Y_local[((ax1_0.41 * 512) + (ax2_0.39 * 16)) + 7], Y_local[((ax1_0.41 * 512) + (ax2_0.39 * 16)) + 39], Y_local[((ax1_0.41 * 512) + (ax2_0.39 * 16)) + 71], Y_local[((ax1_0.41 * 512) + (ax2_0.39 * 16)) + 103], Y_local[((ax1_0.41 * 512) + (ax2_0.39 * 16)) + 135], Y_local[((ax1_0.41 * 512) + (ax2_0.39 * 16)) + 167], Y_local[((ax1_0.41 * 512) + (ax2_0.39 * 16)) + 199], Y_local[((ax1_0.41 * 512) + (ax2_0.39 * 16)) + 231], Y_local[((ax1_0.41 * 512) + (ax2_0.39 * 16)) + 263], Y_local[((ax1_0.41 * 512) + (ax2_0.39 * 16)) + 295], Y_local[((ax1_0.41 * 512) + (ax2_0.39 * 16)) + 327], Y_local[((ax1_0.41 * 512) + (ax2_0.39 * 16)) + 359], Y_local[((ax1_0.41 * 512) + (ax2_0.39 * 16)) + 391], Y_local[((ax1_0.41 * 512) + (ax2_0.39 * 16)) + 423], Y_local[((ax1_0.41 * 512) + (ax2_0.39 * 16)) + 455], Y_local[((ax1_0.41 * 512) + (ax2_0.39 * 16)) + 487])
#             Y[((((((ax2_0.23 * 32) + (ax2_0.39 * 16)) + 8) * h) * w) + (ax0.1 * w)) + ((size.2 * 128) + (ax1_0.41 * 16))] = pack(Y_local[((ax1_0.41 * 512) + (ax2_0.39 * 16)) + 8], Y_local[((ax1_0.41 * 512) + (ax2_0.39 * 16)) + 40], Y_local[((ax1_0.41 * 512) + (ax2_0.39 * 16)) + 72], Y_local[((ax1_0.41 * 512) + (ax2_0.39 * 16)) + 104], Y_local[((ax1_0.41 * 512) + (ax2_0.39 * 16)) + 136], Y_local[((ax1_0.41 * 512) + (ax2_0.39 * 16)) + 168], Y_local[((ax1_0.41 * 512) + (ax2_0.39 * 16)) + 200], Y_local[((ax1_0.41 * 512) + (ax2_0.39 * 16)) + 232], Y_local[((ax1_0.41 * 512) + (ax2_0.39 * 16)) + 264], Y_local[((ax1_0.41 * 512) + (ax2_0.39 * 16)) + 296], Y_local[((ax1_0.41 * 512) + (ax2_0.39 * 16)) + 328], Y_local[((ax1_0.41 * 512) + (ax2_0.39 * 16)) + 360], Y_local[((ax1_0.41 * 512) + (ax2_0.39 * 16)) + 392], Y_local[((ax1_0.41 * 512) + (ax2_0.39 * 16)) + 424], Y_local[((ax1_0.41 * 512) + (ax2_0.39 * 16)) + 456], Y_local[((ax1_0.41 * 512) + (ax2_0.39 * 16)) + 488])
#             Y[((((((ax2_0.23 * 32) + (ax2_0.39 * 16)) + 9) * h) * w) + (ax0.1 * w)) + ((size.2 * 128) + (ax1_0.41 * 16))] = pack(Y_local[((ax1_0.41 * 512) + (ax2_0.39 * 16)) + 9], Y_local[((ax1_0.41 * 512) + (ax2_0.39 * 16)) + 41], Y_local[((ax1_0.41 * 512) + (ax2_0.39 * 16)) + 73], Y_local[((ax1_0.41 * 512) + (ax2_0.39 * 16)) + 105], Y_local[((ax1_0.41 * 512) + (ax2_0.39 * 16)) + 137], Y_local[((ax1_0.41 * 512) + (ax2_0.39 * 16)) + 169], Y_local[((ax1_0.41 * 512) + (ax2_0.39 * 16)) + 201], Y_local[((ax1_0.41 * 512) + (ax2_0.39 * 16)) + 233], Y_local[((ax1_0.41 * 512) + (ax2_0.39 * 16)) + 265], Y_local[((ax1_0.41 * 512) + (ax2_0.39 * 16)) + 297], Y_local[((ax1_0.41 * 512) + (ax2_0.39 * 16)) + 329], Y_local[((ax1_0.41 * 512) + (ax2_0.39 * 16)) + 361], Y_local[((ax1_0.41 * 512) + (ax2_0.39 * 16)) + 393], Y_local[((ax1_0.41 * 512) + (ax2_0.39 * 16)) + 425], Y_local[((ax1_0.41 * 512) + (ax2_0.39 * 16)) + 457], Y_local[((ax1_0.41 * 512) + (ax2_0.39 * 16)) + 489])
#             Y[((((((ax2_0.23 * 32) + (ax2_0.39 * 16)) + 10) * h) * w) + (ax0.1 * w)) + ((size.2 * 128) + (ax1_0.41 * 16))] = pack(Y_local[((ax1_0.41 * 512) + (ax2_0.39 * 16)) + 10], Y_local[((ax1_0.41 * 512) + (ax2_0.39 * 16)) + 42], Y_local[((ax1_0.41 * 512) + (ax2_0.39 * 16)) + 74], Y_local[((ax1_0.41 * 512) + (ax2_0.39 * 16)) + 106], Y_local[((ax1_0.41 * 512) + (ax2_0.39 * 16)) + 138], Y_local[((ax1_0.41 * 512) + (ax2_0.39 * 16)) + 170], Y_local[((ax1_0.41 * 512) + (ax2_0.39 * 16)) + 202], Y_local[((ax1_0.41 * 512) + (ax2_0.39 * 16)) + 234], Y_local[((ax1_0.41 * 512) + (ax2_0.39 * 16)) + 266], Y_local[((ax1_0.41 * 512) + (ax2_0.39 * 16)) + 298], Y_local[((ax1_0.41 * 512) + (ax2_0.39 * 16)) + 330], Y_local[((ax1_0.41 * 512) + (ax2_0.39 * 16)) + 362], Y_local[((ax1_0.41 * 512) + (ax2_0.39 * 16)) + 394], Y_local[((ax1_0.41 * 512) + (ax2_0.39 * 16)) + 426], Y_local[((ax1_0.41 * 512) + (ax2_0.39 * 16)) + 458], Y_local[((ax1_0.41 * 512) + (ax2_0.39 * 16)) + 490])
#             Y[((((((ax2_0.23 * 32) + (ax2_0.39 * 16)) + 11) * h) * w) + (ax0.1 * w)) + ((size.2 * 128) + (ax1_0.41 * 16))] = pack(Y_local[((ax1_0.41 * 512) + (ax2_0.39 * 16)) + 11], Y_local[((ax1_0.41 * 512) + (ax2_0.39 * 16)) + 43], Y_local[((ax1_0.41 * 512) + (ax2_0.39 * 16)) + 75], Y_local[((ax1_0.41 * 512) + (ax2_0.39 * 16)) + 107], Y_local[((ax1_0.41 * 512) + (ax2_0.39 * 16)) + 139], Y_local[((ax1_0.41 * 512) + (ax2_0.39 * 16)) + 171], Y_local[((ax1_0.41 * 512) + (ax2_0.39 * 16)) + 203], Y_local[((ax1_0.41 * 512) + (ax2_0.39 * 16)) + 235], Y_local[((ax1_0.41 * 512) + (ax2_0.39 * 16)) + 267], Y_local[((ax1_0.41 * 512) + (ax2_0.39 * 16)) + 299], Y_local[((ax1_0.41 * 512) + (ax2_0.39 * 16)) + 331], Y_local[((ax1_0.41 * 512) + (ax2_0.39 * 16)) + 363], Y_local[((ax1_0.41 * 512) + (ax2_0.39 * 16)) + 395], Y_local[((ax1_0.41 * 512) + (ax2_0.39 * 16)) + 427], Y_local[((ax1_0.41 * 512) + (ax2_0.39 * 16)) + 459], Y_local[((ax1_0.41 * 512) + (ax2_0.39 * 16)) + 491])
#             Y[((((((ax2_0.23 * 32) + (ax2_0.39 * 16)) + 12) * h) * w) + (ax0.1 * w)) + ((size.2 * 128) + (ax1_0.41 * 16))] = pack(Y_local[((ax1_0.41 * 512) + (ax2_0.39 * 16)) + 12], Y_local[((ax1_0.41 * 512) + (ax2_0.39 * 16)) + 44], Y_local[((ax1_0.41 * 512) + (ax2_0.39 * 16)) + 76], Y_local[((ax1_0.41 * 512) + (ax2_0.39 * 16)) + 108], Y_local[((ax1_0.41 * 512) + (ax2_0.39 * 16)) + 140], Y_local[((ax1_0.41 * 512) + (ax2_0.39 * 16)) + 172], Y_local[((ax1_0.41 * 512) + (ax2_0.39 * 16)) + 204], Y_local[((ax1_0.41 * 512) + (ax2_0.39 * 16)) + 236], Y_local[((ax1_0.41 * 512) + (ax2_0.39 * 16)) + 268], Y_local[((ax1_0.41 * 512) + (ax2_0.39 * 16)) + 300], Y_local[((ax1_0.41 * 512) + (ax2_0.39 * 16)) + 332], Y_local[((ax1_0.41 * 512) + (ax2_0.39 * 16)) + 364], Y_local[((ax1_0.41 * 512) + (ax2_0.39 * 16)) + 396], Y_local[((ax1_0.41 * 512) + (ax2_0.39 * 16)) + 428], Y_local[((ax1_0.41 * 512) + (ax2_0.39 * 16)) + 460], Y_local[((ax1_0.41 * 512) + (ax2_0.39 * 16)) + 492])
#             Y[((((((ax2_0.23 * 32) + (ax2_0.39 * 16)) + 13) * h) * w) + (ax0.1 * w)) + ((size.2 * 128) + (ax1_0.41 * 16))] = pack(Y_local[((ax1_0.41 * 512) + (ax2_0.39 * 16)) + 13], Y_local[((ax1_0.41 * 512) + (ax2_0.39 * 16)) + 45], Y_local[((ax1_0.41 * 512) + (ax2_0.39 * 16)) + 77], Y_local[((ax1_0.41 * 512) + (ax2_0.39 * 16)) + 109], Y_local[((ax1_0.41 * 512) + (ax2_0.39 * 16)) + 141], Y_local[((ax1_0.41 * 512) + (ax2_0.39 * 16)) + 173], Y_local[((ax1_0.41 * 512) + (ax2_0.39 * 16)) + 205], Y_local[((ax1_0.41 * 512) + (ax2_0.39 * 16)) + 237], Y_local[((ax1_0.41 * 512) + (ax2_0.39 * 16)) + 269], Y_local[((ax1_0.41 * 512) + (ax2_0.39 * 16)) + 301], Y_local[((ax1_0.41 * 512) + (ax2_0.39 * 16)) + 333], Y_local[((ax1_0.41 * 512) + (ax2_0.39 * 16)) + 365], Y_local[((ax1_0.41 * 512) + (ax2_0.39 * 16)) + 397], Y_local[((ax1_0.41 * 512) + (ax2_0.39 * 16)) + 429], Y_local[((ax1_0.41 * 512) + (ax2_0.39 * 16)) + 461], Y_local[((ax1_0.41 * 512) + (ax2_0.39 * 16)) + 493])
#             Y[((((((ax2_0.23 * 32) + (ax2_0.39 * 16)) + 14) * h) * w) + (ax0.1 * w)) + ((size.2 * 128) + (ax1_0.41 * 16))] = pack(Y_local[((ax1_0.41 * 512) + (ax2_0.39 * 16)) + 14], Y_local[((ax1_0.41 * 512) + (ax2_0.39 * 16)) + 46], Y_local[((ax1_0.41 * 512) + (ax2_0.39 * 16)) + 78], Y_local[((ax1_0.41 * 512) + (ax2_0.39 * 16)) + 110], Y_local[((ax1_0.41 * 512) + (ax2_0.39 * 16)) + 142], Y_local[((ax1_0.41 * 512) + (ax2_0.39 * 16)) + 174], Y_local[((ax1_0.41 * 512) + (ax2_0.39 * 16)) + 206], Y_local[((ax1_0.41 * 512) + (ax2_0.39 * 16)) + 238], Y_local[((ax1_0.41 * 512) + (ax2_0.39 * 16)) + 270], Y_local[((ax1_0.41 * 512) + (ax2_0.39 * 16)) + 302], Y_local[((ax1_0.41 * 512) + (ax2_0.39 * 16)) + 334], Y_local[((ax1_0.41 * 512) + (ax2_0.39 * 16)) + 366], Y_local[((ax1_0.41 * 512) + (ax2_0.39 * 16)) + 398], Y_local[((ax1_0.41 * 512) + (ax2_0.39 * 16)) + 430], Y_local[((ax1_0.41 * 512) + (ax2_0.39 * 16)) + 462], Y_local[((ax1_0.41 * 512) + (ax2_0.39 * 16)) + 494])
#             Y[((((((ax2_0.23 * 32) + (ax2_0.39 * 16)) + 15) * h) * w) + (ax0.1 * w)) + ((size.2 * 128) + (ax1_0.41 * 16))] = pack(Y_local[((ax1_0.41 * 512) + (ax2_0.39 * 16)) + 15], Y_local[((ax1_0.41 * 512) + (ax2_0.39 * 16)) + 47], Y_local[((ax1_0.41 * 512) + (ax2_0.39 * 16)) + 79], Y_local[((ax1_0.41 * 512) + (ax2_0.39 * 16)) + 111], Y_local[((ax1_0.41 * 512) + (ax2_0.39 * 16)) + 143], Y_local[((ax1_0.41 * 512) + (ax2_0.39 * 16)) + 175], Y_local[((ax1_0.41 * 512) + (ax2_0.39 * 16)) + 207], Y_local[((ax1_0.41 * 512) + (ax2_0.39 * 16)) + 239], Y_local[((ax1_0.41 * 512) + (ax2_0.39 * 16)) + 271], Y_local[((ax1_0.41 * 512) + (ax2_0.39 * 16)) + 303], Y_local[((ax1_0.41 * 512) + (ax2_0.39 * 16)) + 335], Y_local[((ax1_0.41 * 512) + (ax2_0.39 * 16)) + 367], Y_local[((ax1_0.41 * 512) + (ax2_0.39 * 16)) + 399], Y_local[((ax1_0.41 * 512) + (ax2_0.39 * 16)) + 431], Y_local[((ax1_0.41 * 512) + (ax2_0.39 * 16)) + 463], Y_local[((ax1_0.41 * 512) + (ax2_0.39 * 16)) + 495])
#           for ax1_0.43 from size.40 * 4, size.42 - (size.40 * 4) times:
#             Y[(((((ax2_0.23 * 32) + (ax2_0.39 * 16)) * h) * w) + (ax0.1 * w)) + ((size.2 * 128) + (ax1_0.43 * 4))] = pack(Y_local[(ax1_0.43 * 128) + (ax2_0.39 * 16)], Y_local[((ax1_0.43 * 128) + (ax2_0.39 * 16)) + 32], Y_local[((ax1_0.43 * 128) + (ax2_0.39 * 16)) + 64], Y_local[((ax1_0.43 * 128) + (ax2_0.39 * 16)) + 96])
#             Y[((((((ax2_0.23 * 32) + (ax2_0.39 * 16)) + 1) * h) * w) + (ax0.1 * w)) + ((size.2 * 128) + (ax1_0.43 * 4))] = pack(Y_local[((ax1_0.43 * 128) + (ax2_0.39 * 16)) + 1], Y_local[((ax1_0.43 * 128) + (ax2_0.39 * 16)) + 33], Y_local[((ax1_0.43 * 128) + (ax2_0.39 * 16)) + 65], Y_local[((ax1_0.43 * 128) + (ax2_0.39 * 16)) + 97])
#             Y[((((((ax2_0.23 * 32) + (ax2_0.39 * 16)) + 2) * h) * w) + (ax0.1 * w)) + ((size.2 * 128) + (ax1_0.43 * 4))] = pack(Y_local[((ax1_0.43 * 128) + (ax2_0.39 * 16)) + 2], Y_local[((ax1_0.43 * 128) + (ax2_0.39 * 16)) + 34], Y_local[((ax1_0.43 * 128) + (ax2_0.39 * 16)) + 66], Y_local[((ax1_0.43 * 128) + (ax2_0.39 * 16)) + 98])
#             Y[((((((ax2_0.23 * 32) + (ax2_0.39 * 16)) + 3) * h) * w) + (ax0.1 * w)) + ((size.2 * 128) + (ax1_0.43 * 4))] = pack(Y_local[((ax1_0.43 * 128) + (ax2_0.39 * 16)) + 3], Y_local[((ax1_0.43 * 128) + (ax2_0.39 * 16)) + 35], Y_local[((ax1_0.43 * 128) + (ax2_0.39 * 16)) + 67], Y_local[((ax1_0.43 * 128) + (ax2_0.39 * 16)) + 99])
#             Y[((((((ax2_0.23 * 32) + (ax2_0.39 * 16)) + 4) * h) * w) + (ax0.1 * w)) + ((size.2 * 128) + (ax1_0.43 * 4))] = pack(Y_local[((ax1_0.43 * 128) + (ax2_0.39 * 16)) + 4], Y_local[((ax1_0.43 * 128) + (ax2_0.39 * 16)) + 36], Y_local[((ax1_0.43 * 128) + (ax2_0.39 * 16)) + 68], Y_local[((ax1_0.43 * 128) + (ax2_0.39 * 16)) + 100])
#             Y[((((((ax2_0.23 * 32) + (ax2_0.39 * 16)) + 5) * h) * w) + (ax0.1 * w)) + ((size.2 * 128) + (ax1_0.43 * 4))] = pack(Y_local[((ax1_0.43 * 128) + (ax2_0.39 * 16)) + 5], Y_local[((ax1_0.43 * 128) + (ax2_0.39 * 16)) + 37], Y_local[((ax1_0.43 * 128) + (ax2_0.39 * 16)) + 69], Y_local[((ax1_0.43 * 128) + (ax2_0.39 * 16)) + 101])
#             Y[((((((ax2_0.23 * 32) + (ax2_0.39 * 16)) + 6) * h) * w) + (ax0.1 * w)) + ((size.2 * 128) + (ax1_0.43 * 4))] = pack(Y_local[((ax1_0.43 * 128) + (ax2_0.39 * 16)) + 6], Y_local[((ax1_0.43 * 128) + (ax2_0.39 * 16)) + 38], Y_local[((ax1_0.43 * 128) + (ax2_0.39 * 16)) + 70], Y_local[((ax1_0.43 * 128) + (ax2_0.39 * 16)) + 102])
#             Y[((((((ax2_0.23 * 32) + (ax2_0.39 * 16)) + 7) * h) * w) + (ax0.1 * w)) + ((size.2 * 128) + (ax1_0.43 * 4))] = pack(Y_local[((ax1_0.43 * 128) + (ax2_0.39 * 16)) + 7], Y_local[((ax1_0.43 * 128) + (ax2_0.39 * 16)) + 39], Y_local[((ax1_0.43 * 128) + (ax2_0.39 * 16)) + 71], Y_local[((ax1_0.43 * 128) + (ax2_0.39 * 16)) + 103])
#             Y[((((((ax2_0.23 * 32) + (ax2_0.39 * 16)) + 8) * h) * w) + (ax0.1 * w)) + ((size.2 * 128) + (ax1_0.43 * 4))] = pack(Y_local[((ax1_0.43 * 128) + (ax2_0.39 * 16)) + 8], Y_local[((ax1_0.43 * 128) + (ax2_0.39 * 16)) + 40], Y_local[((ax1_0.43 * 128) + (ax2_0.39 * 16)) + 72], Y_local[((ax1_0.43 * 128) + (ax2_0.39 * 16)) + 104])
#             Y[((((((ax2_0.23 * 32) + (ax2_0.39 * 16)) + 9) * h) * w) + (ax0.1 * w)) + ((size.2 * 128) + (ax1_0.43 * 4))] = pack(Y_local[((ax1_0.43 * 128) + (ax2_0.39 * 16)) + 9], Y_local[((ax1_0.43 * 128) + (ax2_0.39 * 16)) + 41], Y_local[((ax1_0.43 * 128) + (ax2_0.39 * 16)) + 73], Y_local[((ax1_0.43 * 128) + (ax2_0.39 * 16)) + 105])
#             Y[((((((ax2_0.23 * 32) + (ax2_0.39 * 16)) + 10) * h) * w) + (ax0.1 * w)) + ((size.2 * 128) + (ax1_0.43 * 4))] = pack(Y_local[((ax1_0.43 * 128) + (ax2_0.39 * 16)) + 10], Y_local[((ax1_0.43 * 128) + (ax2_0.39 * 16)) + 42], Y_local[((ax1_0.43 * 128) + (ax2_0.39 * 16)) + 74], Y_local[((ax1_0.43 * 128) + (ax2_0.39 * 16)) + 106])
#             Y[((((((ax2_0.23 * 32) + (ax2_0.39 * 16)) + 11) * h) * w) + (ax0.1 * w)) + ((size.2 * 128) + (ax1_0.43 * 4))] = pack(Y_local[((ax1_0.43 * 128) + (ax2_0.39 * 16)) + 11], Y_local[((ax1_0.43 * 128) + (ax2_0.39 * 16)) + 43], Y_local[((ax1_0.43 * 128) + (ax2_0.39 * 16)) + 75], Y_local[((ax1_0.43 * 128) + (ax2_0.39 * 16)) + 107])
#             Y[((((((ax2_0.23 * 32) + (ax2_0.39 * 16)) + 12) * h) * w) + (ax0.1 * w)) + ((size.2 * 128) + (ax1_0.43 * 4))] = pack(Y_local[((ax1_0.43 * 128) + (ax2_0.39 * 16)) + 12], Y_local[((ax1_0.43 * 128) + (ax2_0.39 * 16)) + 44], Y_local[((ax1_0.43 * 128) + (ax2_0.39 * 16)) + 76], Y_local[((ax1_0.43 * 128) + (ax2_0.39 * 16)) + 108])
#             Y[((((((ax2_0.23 * 32) + (ax2_0.39 * 16)) + 13) * h) * w) + (ax0.1 * w)) + ((size.2 * 128) + (ax1_0.43 * 4))] = pack(Y_local[((ax1_0.43 * 128) + (ax2_0.39 * 16)) + 13], Y_local[((ax1_0.43 * 128) + (ax2_0.39 * 16)) + 45], Y_local[((ax1_0.43 * 128) + (ax2_0.39 * 16)) + 77], Y_local[((ax1_0.43 * 128) + (ax2_0.39 * 16)) + 109])
#             Y[((((((ax2_0.23 * 32) + (ax2_0.39 * 16)) + 14) * h) * w) + (ax0.1 * w)) + ((size.2 * 128) + (ax1_0.43 * 4))] = pack(Y_local[((ax1_0.43 * 128) + (ax2_0.39 * 16)) + 14], Y_local[((ax1_0.43 * 128) + (ax2_0.39 * 16)) + 46], Y_local[((ax1_0.43 * 128) + (ax2_0.39 * 16)) + 78], Y_local[((ax1_0.43 * 128) + (ax2_0.39 * 16)) + 110])
#             Y[((((((ax2_0.23 * 32) + (ax2_0.39 * 16)) + 15) * h) * w) + (ax0.1 * w)) + ((size.2 * 128) + (ax1_0.43 * 4))] = pack(Y_local[((ax1_0.43 * 128) + (ax2_0.39 * 16)) + 15], Y_local[((ax1_0.43 * 128) + (ax2_0.39 * 16)) + 47], Y_local[((ax1_0.43 * 128) + (ax2_0.39 * 16)) + 79], Y_local[((ax1_0.43 * 128) + (ax2_0.39 * 16)) + 111])
#           for ax1_0.45 from size.42 * 4, size.44 - (size.42 * 4) times:
#             Y[(((((ax2_0.23 * 32) + (ax2_0.39 * 16)) * h) * w) + (ax0.1 * w)) + ((size.2 * 128) + ax1_0.45)] = Y_local[(ax1_0.45 * 32) + (ax2_0.39 * 16)]
#             Y[((((((ax2_0.23 * 32) + (ax2_0.39 * 16)) + 1) * h) * w) + (ax0.1 * w)) + ((size.2 * 128) + ax1_0.45)] = Y_local[((ax1_0.45 * 32) + (ax2_0.39 * 16)) + 1]
#             Y[((((((ax2_0.23 * 32) + (ax2_0.39 * 16)) + 2) * h) * w) + (ax0.1 * w)) + ((size.2 * 128) + ax1_0.45)] = Y_local[((ax1_0.45 * 32) + (ax2_0.39 * 16)) + 2]
#             Y[((((((ax2_0.23 * 32) + (ax2_0.39 * 16)) + 3) * h) * w) + (ax0.1 * w)) + ((size.2 * 128) + ax1_0.45)] = Y_local[((ax1_0.45 * 32) + (ax2_0.39 * 16)) + 3]
#             Y[((((((ax2_0.23 * 32) + (ax2_0.39 * 16)) + 4) * h) * w) + (ax0.1 * w)) + ((size.2 * 128) + ax1_0.45)] = Y_local[((ax1_0.45 * 32) + (ax2_0.39 * 16)) + 4]
#             Y[((((((ax2_0.23 * 32) + (ax2_0.39 * 16)) + 5) * h) * w) + (ax0.1 * w)) + ((size.2 * 128) + ax1_0.45)] = Y_local[((ax1_0.45 * 32) + (ax2_0.39 * 16)) + 5]
#             Y[((((((ax2_0.23 * 32) + (ax2_0.39 * 16)) + 6) * h) * w) + (ax0.1 * w)) + ((size.2 * 128) + ax1_0.45)] = Y_local[((ax1_0.45 * 32) + (ax2_0.39 * 16)) + 6]
#             Y[((((((ax2_0.23 * 32) + (ax2_0.39 * 16)) + 7) * h) * w) + (ax0.1 * w)) + ((size.2 * 128) + ax1_0.45)] = Y_local[((ax1_0.45 * 32) + (ax2_0.39 * 16)) + 7]
#             Y[((((((ax2_0.23 * 32) + (ax2_0.39 * 16)) + 8) * h) * w) + (ax0.1 * w)) + ((size.2 * 128) + ax1_0.45)] = Y_local[((ax1_0.45 * 32) + (ax2_0.39 * 16)) + 8]
#             Y[((((((ax2_0.23 * 32) + (ax2_0.39 * 16)) + 9) * h) * w) + (ax0.1 * w)) + ((size.2 * 128) + ax1_0.45)] = Y_local[((ax1_0.45 * 32) + (ax2_0.39 * 16)) + 9]
#             Y[((((((ax2_0.23 * 32) + (ax2_0.39 * 16)) + 10) * h) * w) + (ax0.1 * w)) + ((size.2 * 128) + ax1_0.45)] = Y_local[((ax1_0.45 * 32) + (ax2_0.39 * 16)) + 10]
#             Y[((((((ax2_0.23 * 32) + (ax2_0.39 * 16)) + 11) * h) * w) + (ax0.1 * w)) + ((size.2 * 128) + ax1_0.45)] = Y_local[((ax1_0.45 * 32) + (ax2_0.39 * 16)) + 11]
#             Y[((((((ax2_0.23 * 32) + (ax2_0.39 * 16)) + 12) * h) * w) + (ax0.1 * w)) + ((size.2 * 128) + ax1_0.45)] = Y_local[((ax1_0.45 * 32) + (ax2_0.39 * 16)) + 12]
#             Y[((((((ax2_0.23 * 32) + (ax2_0.39 * 16)) + 13) * h) * w) + (ax0.1 * w)) + ((size.2 * 128) + ax1_0.45)] = Y_local[((ax1_0.45 * 32) + (ax2_0.39 * 16)) + 13]
#             Y[((((((ax2_0.23 * 32) + (ax2_0.39 * 16)) + 14) * h) * w) + (ax0.1 * w)) + ((size.2 * 128) + ax1_0.45)] = Y_local[((ax1_0.45 * 32) + (ax2_0.39 * 16)) + 14]
#             Y[((((((ax2_0.23 * 32) + (ax2_0.39 * 16)) + 15) * h) * w) + (ax0.1 * w)) + ((size.2 * 128) + ax1_0.45)] = Y_local[((ax1_0.45 * 32) + (ax2_0.39 * 16)) + 15]
