# test: lower
# target: avx2
# run: default rules
# A convolution of two groups whose channels are last: results of a group are a vector, and share the elements that they are made of.

@T.prim_func
def conv2d(X: T.Buffer((1, 4, 4, 4), "float32"), W: T.Buffer((3, 3, 2, 32), "float32"), Y: T.Buffer((1, 2, 2, 32), "float32")):
    for n, y, x, o, c, r, s in T.grid(1, 2, 2, 32, 2, 3, 3):
        with T.block("conv2d"):
            vn, vy, vx, vo, vc, vr, vs = T.axis.remap("SSSSRRR", [n, y, x, o, c, r, s])
            with T.init():
                Y[vn, vy, vx, vo] = T.float32(0)
            Y[vn, vy, vx, vo] = Y[vn, vy, vx, vo] + X[vn, vy + vr, vx + vs, vo // 16 * 2 + vc] * W[vr, vs, vc, vo]
# expect-listing:
# func conv2d()
#   param 0 X: float32[1, 4, 4, 4]
#   param 1 W: float32[3, 3, 2, 32]
#   param 2 Y: float32[1, 2, 2, 32] written
#
# kernel conv2d  # conv2d_init, conv2d_update
#   array X: float32, 64 elements, global read param 0
#   array W: float32, 576 elements, global read param 1
#   array Y: float32, 128 elements, global read write param 2
#   array Y_cell: float32, 16 elements, local
#   cost 4608 flop, 3584 bytes; accesses proved
#   parallel for n_y_x_o_0_fused from 0, 8 times:
#     Y[n_y_x_o_0_fused * 16] = splat16(0.0)
#     Y_cell[0] = Y[n_y_x_o_0_fused * 16 : 16]
#     for c from 0, 2 times:
#       for r from 0, 3 times:
#         Y_cell[0] = Y_cell[0 : 16] + (splat16(X[(((r * 16) + ((n_y_x_o_0_fused >> 2) * 16)) + c) + ((n_y_x_o_0_fused & 3) * 2)]) * W[((r * 192) + (c * 32)) + ((n_y_x_o_0_fused & 1) * 16) : 16])
#         Y_cell[0] = Y_cell[0 : 16] + (splat16(X[((((r * 16) + ((n_y_x_o_0_fused >> 2) * 16)) + c) + ((n_y_x_o_0_fused & 3) * 2)) + 4]) * W[(((r * 192) + (c * 32)) + ((n_y_x_o_0_fused & 1) * 16)) + 64 : 16])
#         Y_cell[0] = Y_cell[0 : 16] + (splat16(X[((((r * 16) + ((n_y_x_o_0_fused >> 2) * 16)) + c) + ((n_y_x_o_0_fused & 3) * 2)) + 8]) * W[(((r * 192) + (c * 32)) + ((n_y_x_o_0_fused & 1) * 16)) + 128 : 16])
#     Y[n_y_x_o_0_fused * 16] = Y_cell[0 : 16]
