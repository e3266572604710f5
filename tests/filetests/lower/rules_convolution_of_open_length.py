# test: lower
# target: cpu
# run: default rules
# The only loop of pixels is of an open length and may have a single block: panels of channels are spread over the threads with it.

@T.prim_func
def conv1d(x: T.handle, W: T.Buffer((48, 32, 3), "float32"), y: T.handle):
    n = T.int64()
    X = T.match_buffer(x, (1, 32, n + 2))
    Y = T.match_buffer(y, (1, 48, n))
    for b, o, p, c, r in T.grid(1, 48, n, 32, 3):
        with T.block("Y"):
            vb, vo, vp, vc, vr = T.axis.remap("SSSRR", [b, o, p, c, r])
            with T.init():
                Y[vb, vo, vp] = T.float32(0)
            Y[vb, vo, vp] = Y[vb, vo, vp] + X[vb, vc, vp + vr] * W[vo, vc, vr]
# expect-listing:
# func conv1d(n)
#   param 0 x: float32[1, 32, (n + 2)]
#   param 1 W: float32[48, 32, 3]
#   param 2 y: float32[1, 48, n] written
#
# kernel conv1d  # Y_init, W_local, Y_update, Y_local
#   scalar size.0: int64 = (n + 127) // 128
#   scalar size.2: int64 = (n + 1) // 2
#   scalar n: int64 = n
#   scalar size.9: int64 = n // 2
#   array X: float32, 32 * (n + 2) elements, global read param 0
#   array W: float32, 4608 elements, global read param 1
#   array Y: float32, 48 * n elements, global write param 2
#   array Y_local: float32, 2048 elements, local
#   array W_local: float32, 1536 elements, local
#   array Y_local_cell.5: float32, 16 elements, local
#   array Y_local_cell.6: float32, 16 elements, local
#   array Y_local_cell.7: float32, 16 elements, local
#   cost 0 + ((((n * 48) * 32) * 3) * 2) flop, ((0 + ((32 * (n + 2)) * 4)) + 18432) + ((48 * n) * 4) bytes; accesses proved
#   parallel for ax0_0_ax1_0_fused from 0, size.0 * 3 times:
#     for ax0_1_init from 0, min((size.2 - ((ax0_0_ax1_0_fused / 3) * 64)), 64) times:
#       Y_local[ax0_1_init * 32] = splat16(0.0)
#       Y_local[(ax0_1_init * 32) + 16] = splat16(0.0)
#     for ax0 from 0, 16 times:
#       for ax1 from 0, 32 times:
#         for ax2 from 0, 3 times:
#           W_local[((ax1 * 48) + (ax2 * 16)) + ax0] = W[((((ax0_0_ax1_0_fused rem 3) * 1536) + (ax0 * 96)) + (ax1 * 3)) + ax2]
#     let rest = max(min((n - ((ax0_0_ax1_0_fused / 3) * 128)), 128), 0) & 1
#     let ax0_1.10 = max(min((size.9 - ((ax0_0_ax1_0_fused / 3) * 64)), 63), 0)
#     for ax0_1.11 from 0, min((size.9 - ((ax0_0_ax1_0_fused / 3) * 64)), 64) times:
#       Y_local_cell.5[0] = Y_local[ax0_1.11 * 32 : 16]
#       Y_local_cell.6[0] = Y_local[(ax0_1.11 * 32) + 16 : 16]
#       for ax2_1.12 from 0, 32 times:
#         Y_local_cell.5[0] = Y_local_cell.5[0 : 16] + (splat16(X[(ax2_1.12 * n) + (((ax2_1.12 * 2) + ((ax0_0_ax1_0_fused / 3) * 128)) + (ax0_1.11 * 2))]) * W_local[ax2_1.12 * 48 : 16])
#         Y_local_cell.6[0] = Y_local_cell.6[0 : 16] + (splat16(X[(ax2_1.12 * n) + ((((ax2_1.12 * 2) + ((ax0_0_ax1_0_fused / 3) * 128)) + (ax0_1.11 * 2)) + 1)]) * W_local[ax2_1.12 * 48 : 16])
#         Y_local_cell.5[0] = Y_local_cell.5[0 : 16] + (splat16(X[(ax2_1.12 * n) + ((((ax2_1.12 * 2) + ((ax0_0_ax1_0_fused / 3) * 128)) + (ax0_1.11 * 2)) + 1)]) * W_local[(ax2_1.12 * 48) + 16 : 16])
#         Y_local_cell.6[0] = Y_local_cell.6[0 : 16] + (splat16(X[(ax2_1.12 * n) + ((((ax2_1.12 * 2) + ((ax0_0_ax1_0_fused / 3) * 128)) + (ax0_1.11 * 2)) + 2)]) * W_local[(ax2_1.12 * 48) + 16 : 16])
#         Y_local_cell.5[0] = Y_local_cell.5[0 : 16] + (splat16(X[(ax2_1.12 * n) + ((((ax2_1.12 * 2) + ((ax0_0_ax1_0_fused / 3) * 128)) + (ax0_1.11 * 2)) + 2)]) * W_local[(ax2_1.12 * 48) + 32 : 16])
#         Y_local_cell.6[0] = Y_local_cell.6[0 : 16] + (splat16(X[(ax2_1.12 * n) + ((((ax2_1.12 * 2) + ((ax0_0_ax1_0_fused / 3) * 128)) + (ax0_1.11 * 2)) + 3)]) * W_local[(ax2_1.12 * 48) + 32 : 16])
#       Y_local[ax0_1.11 * 32] = Y_local_cell.5[0 : 16]
#       Y_local[(ax0_1.11 * 32) + 16] = Y_local_cell.6[0 : 16]
#     if rest == 1:
#       Y_local_cell.7[0] = Y_local[ax0_1.10 * 32 : 16]
#       for ax2_1.13 from 0, 32 times:
#         Y_local_cell.7[0] = Y_local_cell.7[0 : 16] + (splat16(X[(ax2_1.13 * n) + ((ax2_1.13 * 2) + min((((ax0_0_ax1_0_fused / 3) * 128) + (ax0_1.10 * 2)), (n - 1)))]) * W_local[ax2_1.13 * 48 : 16])
#         Y_local_cell.7[0] = Y_local_cell.7[0 : 16] + (splat16(X[(ax2_1.13 * n) + (((ax2_1.13 * 2) + min((((ax0_0_ax1_0_fused / 3) * 128) + (ax0_1.10 * 2)), (n - 1))) + 1)]) * W_local[(ax2_1.13 * 48) + 16 : 16])
#         Y_local_cell.7[0] = Y_local_cell.7[0 : 16] + (splat16(X[(ax2_1.13 * n) + (((ax2_1.13 * 2) + min((((ax0_0_ax1_0_fused / 3) * 128) + (ax0_1.10 * 2)), (n - 1))) + 2)]) * W_local[(ax2_1.13 * 48) + 32 : 16])
#       Y_local[ax0_1.10 * 32] = Y_local_cell.7[0 : 16]
#     for ax1_0 from 0, 4 times:
#       for ax0_0 from 0, 8 times:
#         for ax0_1.16 from 0, 16 times:
#           if ((((ax0_0_ax1_0_fused / 3) * 128) + (ax0_0 * 16)) + (0 + ax0_1.16)) < n:
#             Y[((((ax0_0_ax1_0_fused rem 3) * 16) + (ax1_0 * 4)) * n) + ((((ax0_0_ax1_0_fused / 3) * 128) + (ax0_0 * 16)) + ax0_1.16)] = Y_local[((ax0_0 * 256) + (ax0_1.16 * 16)) + (ax1_0 * 4)]
#         for ax0_1.17 from 0, 16 times:
#           if ((((ax0_0_ax1_0_fused / 3) * 128) + (ax0_0 * 16)) + (0 + ax0_1.17)) < n:
#             Y[(((((ax0_0_ax1_0_fused rem 3) * 16) + (ax1_0 * 4)) + 1) * n) + ((((ax0_0_ax1_0_fused / 3) * 128) + (ax0_0 * 16)) + ax0_1.17)] = Y_local[(((ax0_0 * 256) + (ax0_1.17 * 16)) + (ax1_0 * 4)) + 1]
#         for ax0_1.18 from 0, 16 times:
#           if ((((ax0_0_ax1_0_fused / 3) * 128) + (ax0_0 * 16)) + (0 + ax0_1.18)) < n:
#             Y[(((((ax0_0_ax1_0_fused rem 3) * 16) + (ax1_0 * 4)) + 2) * n) + ((((ax0_0_ax1_0_fused / 3) * 128) + (ax0_0 * 16)) + ax0_1.18)] = Y_local[(((ax0_0 * 256) + (ax0_1.18 * 16)) + (ax1_0 * 4)) + 2]
#         for ax0_1.19 from 0, 16 times:
#           if ((((ax0_0_ax1_0_fused / 3) * 128) + (ax0_0 * 16)) + (0 + ax0_1.19)) < n:
#             Y[(((((ax0_0_ax1_0_fused rem 3) * 16) + (ax1_0 * 4)) + 3) * n) + ((((ax0_0_ax1_0_fused / 3) * 128) + (ax0_0 * 16)) + ax0_1.19)] = Y_local[(((ax0_0 * 256) + (ax0_1.19 * 16)) + (ax1_0 * 4)) + 3]
