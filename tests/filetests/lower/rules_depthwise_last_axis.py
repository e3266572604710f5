# test: lower
# target: avx2
# run: default rules
# A depthwise convolution whose channels are last, but for an axis of one element in the weight: vectors of channels.

@T.prim_func
def conv2d(X: T.Buffer((1, 4, 4, 32), "float32"), W: T.Buffer((3, 3, 32, 1), "float32"), Y: T.Buffer((1, 2, 2, 32), "float32")):
    for n, y, x, o, r, s in T.grid(1, 2, 2, 32, 3, 3):
        with T.block("conv2d"):
            vn, vy, vx, vo, vr, vs = T.axis.remap("SSSSRR", [n, y, x, o, r, s])
            with T.init():
                Y[vn, vy, vx, vo] = T.float32(0)
            Y[vn, vy, vx, vo] = Y[vn, vy, vx, vo] + X[vn, vy + vr, vx + vs, vo] * W[vr, vs, vo, 0]
# expect-listing:
# func conv2d()
#   param 0 X: float32[1, 4, 4, 32]
#   param 1 W: float32[3, 3, 32, 1]
#   param 2 Y: float32[1, 2, 2, 32] written
#
# kernel conv2d  # conv2d_init, conv2d_update
#   array X: float32, 512 elements, global read param 0
#   array W: float32, 288 elements, global read param 1
#   array Y: float32, 128 elements, global read write param 2
#   array Y_cell: float32, 16 elements, local
#   cost 2304 flop, 4224 bytes; accesses proved
#   parallel for n_y_x_o_0_fused from 0, 8 times:
#     Y[n_y_x_o_0_fused * 16] = splat16(0.0)
#     Y_cell[0] = Y[n_y_x_o_0_fused * 16 : 16]
#     for r from 0, 3 times:
#       Y_cell[0] = Y_cell[0 : 16] + (X[((r * 128) + ((n_y_x_o_0_fused >> 2) * 128)) + ((n_y_x_o_0_fused & 3) * 16) : 16] * W[(r * 96) + ((n_y_x_o_0_fused & 1) * 16) : 16])
#       Y_cell[0] = Y_cell[0 : 16] + (X[(((r * 128) + ((n_y_x_o_0_fused >> 2) * 128)) + ((n_y_x_o_0_fused & 3) * 16)) + 32 : 16] * W[((r * 96) + ((n_y_x_o_0_fused & 1) * 16)) + 32 : 16])
#       Y_cell[0] = Y_cell[0 : 16] + (X[(((r * 128) + ((n_y_x_o_0_fused >> 2) * 128)) + ((n_y_x_o_0_fused & 3) * 16)) + 64 : 16] * W[((r * 96) + ((n_y_x_o_0_fused & 1) * 16)) + 64 : 16])
#     Y[n_y_x_o_0_fused * 16] = Y_cell[0 : 16]
