# test: lower
# target: avx512
# run: default rules
# Four products for each result: two channels read one image, a vector of which serves both.

@T.prim_func
def conv2d(X: T.Buffer((2, 1, 5, 17), "float32"), W: T.Buffer((2, 1, 2, 2), "float32"), Y: T.Buffer((2, 2, 4, 16), "float32")):
    for n, o, y, x, c, r, s in T.grid(2, 2, 4, 16, 1, 2, 2):
        with T.block("Y"):
            vn, vo, vy, vx, vc, vr, vs = T.axis.remap("SSSSRRR", [n, o, y, x, c, r, s])
            with T.init():
                Y[vn, vo, vy, vx] = T.float32(0)
            Y[vn, vo, vy, vx] = Y[vn, vo, vy, vx] + X[vn, vc, vy + vr, vx + vs] * W[vo, vc, vr, vs]
# expect-listing:
# func conv2d()
#   param 0 X: float32[2, 1, 5, 17]
#   param 1 W: float32[2, 1, 2, 2]
#   param 2 Y: float32[2, 2, 4, 16] written
#
# kernel conv2d  # Y_init, Y_update, Y_local
#   array X: float32, 170 elements, global read param 0
#   array W: float32, 8 elements, global read param 1
#   array Y: float32, 256 elements, global write param 2
#   array Y_local: float32, 128 elements, local
#   cost 2048 flop, 1736 bytes; accesses proved
#   parallel for n_y_0_0_o_0_y_0_1_x_0_fused from 0, 2 times:
#     Y_local[0] = splat16(0.0)
#     Y_local[16] = splat16(0.0)
#     Y_local[32] = splat16(0.0)
#     Y_local[48] = splat16(0.0)
#     Y_local[64] = splat16(0.0)
#     Y_local[80] = splat16(0.0)
#     Y_local[96] = splat16(0.0)
#     Y_local[112] = splat16(0.0)
#     Y_local[0] = Y_local[0 : 16] + (X[n_y_0_0_o_0_y_0_1_x_0_fused * 85 : 16] * splat16(W[0]))
#     Y_local[16] = Y_local[16 : 16] + (X[(n_y_0_0_o_0_y_0_1_x_0_fused * 85) + 17 : 16] * splat16(W[0]))
#     Y_local[32] = Y_local[32 : 16] + (X[(n_y_0_0_o_0_y_0_1_x_0_fused * 85) + 34 : 16] * splat16(W[0]))
#     Y_local[48] = Y_local[48 : 16] + (X[(n_y_0_0_o_0_y_0_1_x_0_fused * 85) + 51 : 16] * splat16(W[0]))
#     Y_local[64] = Y_local[64 : 16] + (X[n_y_0_0_o_0_y_0_1_x_0_fused * 85 : 16] * splat16(W[4]))
#     Y_local[80] = Y_local[80 : 16] + (X[(n_y_0_0_o_0_y_0_1_x_0_fused * 85) + 17 : 16] * splat16(W[4]))
#     Y_local[96] = Y_local[96 : 16] + (X[(n_y_0_0_o_0_y_0_1_x_0_fused * 85) + 34 : 16] * splat16(W[4]))
#     Y_local[112] = Y_local[112 : 16] + (X[(n_y_0_0_o_0_y_0_1_x_0_fused * 85) + 51 : 16] * splat16(W[4]))
#     Y_local[0] = Y_local[0 : 16] + (X[(n_y_0_0_o_0_y_0_1_x_0_fused * 85) + 17 : 16] * splat16(W[2]))
#     Y_local[16] = Y_local[16 : 16] + (X[(n_y_0_0_o_0_y_0_1_x_0_fused * 85) + 34 : 16] * splat16(W[2]))
#     Y_local[32] = Y_local[32 : 16] + (X[(n_y_0_0_o_0_y_0_1_x_0_fused * 85) + 51 : 16] * splat16(W[2]))
#     Y_local[48] = Y_local[48 : 16] + (X[(n_y_0_0_o_0_y_0_1_x_0_fused * 85) + 68 : 16] * splat16(W[2]))
#     Y_local[64] = Y_local[64 : 16] + (X[(n_y_0_0_o_0_y_0_1_x_0_fused * 85) + 17 : 16] * splat16(W[6]))
#     Y_local[80] = Y_local[80 : 16] + (X[(n_y_0_0_o_0_y_0_1_x_0_fused * 85) + 34 : 16] * splat16(W[6]))
#     Y_local[96] = Y_local[96 : 16] + (X[(n_y_0_0_o_0_y_0_1_x_0_fused * 85) + 51 : 16] * splat16(W[6]))
#     Y_local[112] = Y_local[112 : 16] + (X[(n_y_0_0_o_0_y_0_1_x_0_fused * 85) + 68 : 16] * splat16(W[6]))
#     Y_local[0] = Y_local[0 : 16] + (X[(n_y_0_0_o_0_y_0_1_x_0_fused * 85) + 1 : 16] * splat16(W[1]))
#     Y_local[16] = Y_local[16 : 16] + (X[(n_y_0_0_o_0_y_0_1_x_0_fused * 85) + 18 : 16] * splat16(W[1]))
#     Y_local[32] = Y_local[32 : 16] + (X[(n_y_0_0_o_0_y_0_1_x_0_fused * 85) + 35 : 16] * splat16(W[1]))
#     Y_local[48] = Y_local[48 : 16] + (X[(n_y_0_0_o_0_y_0_1_x_0_fused * 85) + 52 : 16] * splat16(W[1]))
#     Y_local[64] = Y_local[64 : 16] + (X[(n_y_0_0_o_0_y_0_1_x_0_fused * 85) + 1 : 16] * splat16(W[5]))
#     Y_local[80] = Y_local[80 : 16] + (X[(n_y_0_0_o_0_y_0_1_x_0_fused * 85) + 18 : 16] * splat16(W[5]))
#     Y_local[96] = Y_local[96 : 16] + (X[(n_y_0_0_o_0_y_0_1_x_0_fused * 85) + 35 : 16] * splat16(W[5]))
#     Y_local[112] = Y_local[112 : 16] + (X[(n_y_0_0_o_0_y_0_1_x_0_fused * 85) + 52 : 16] * splat16(W[5]))
#     Y_local[0] = Y_local[0 : 16] + (X[(n_y_0_0_o_0_y_0_1_x_0_fused * 85) + 18 : 16] * splat16(W[3]))
#     Y_local[16] = Y_local[16 : 16] + (X[(n_y_0_0_o_0_y_0_1_x_0_fused * 85) + 35 : 16] * splat16(W[3]))
#     Y_local[32] = Y_local[32 : 16] + (X[(n_y_0_0_o_0_y_0_1_x_0_fused * 85) + 52 : 16] * splat16(W[3]))
#     Y_local[48] = Y_local[48 : 16] + (X[(n_y_0_0_o_0_y_0_1_x_0_fused * 85) + 69 : 16] * splat16(W[3]))
#     Y_local[64] = Y_local[64 : 16] + (X[(n_y_0_0_o_0_y_0_1_x_0_fused * 85) + 18 : 16] * splat16(W[7]))
#     Y_local[80] = Y_local[80 : 16] + (X[(n_y_0_0_o_0_y_0_1_x_0_fused * 85) + 35 : 16] * splat16(W[7]))
#     Y_local[96] = Y_local[96 : 16] + (X[(n_y_0_0_o_0_y_0_1_x_0_fused * 85) + 52 : 16] * splat16(W[7]))
#     Y_local[112] = Y_local[112 : 16] + (X[(n_y_0_0_o_0_y_0_1_x_0_fused * 85) + 69 : 16] * splat16(W[7]))
#     Y[n_y_0_0_o_0_y_0_1_x_0_fused * 128] = Y_local[0 : 16]
#     Y[(n_y_0_0_o_0_y_0_1_x_0_fused * 128) + 16] = Y_local[16 : 16]
#     Y[(n_y_0_0_o_0_y_0_1_x_0_fused * 128) + 32] = Y_local[32 : 16]
#     Y[(n_y_0_0_o_0_y_0_1_x_0_fused * 128) + 48] = Y_local[48 : 16]
#     Y[(n_y_0_0_o_0_y_0_1_x_0_fused * 128) + 64] = Y_local[64 : 16]
#     Y[(n_y_0_0_o_0_y_0_1_x_0_fused * 128) + 80] = Y_local[80 : 16]
#     Y[(n_y_0_0_o_0_y_0_1_x_0_fused * 128) + 96] = Y_local[96 : 16]
#     Y[(n_y_0_0_o_0_y_0_1_x_0_fused * 128) + 112] = Y_local[112 : 16]
