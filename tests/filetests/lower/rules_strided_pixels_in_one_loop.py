# test: lower
# target: avx2
# run: default rules
# Lines and pixels come from one loop, so the copy of the pixels cannot be told apart, and the convolution reads the image.

@T.prim_func
def conv2d(X: T.Buffer((1, 32, 28, 28), "float32"), W: T.Buffer((128, 32, 1, 1), "float32"), Y: T.Buffer((1, 128, 14, 14), "float32")):
    for n, o, f, c in T.grid(1, 128, 196, 32):
        with T.block("Y"):
            vn, vo = T.axis.remap("SS", [n, o])
            vy = T.axis.spatial(14, f // 14)
            vx = T.axis.spatial(14, f % 14)
            vc = T.axis.reduce(32, c)
            with T.init():
                Y[vn, vo, vy, vx] = T.float32(0)
            Y[vn, vo, vy, vx] = Y[vn, vo, vy, vx] + X[vn, vc, vy * 2, vx * 2] * W[vo, vc, 0, 0]
# expect-listing:
# func conv2d()
#   param 0 X: float32[1, 32, 28, 28]
#   param 1 W: float32[128, 32, 1, 1]
#   param 2 Y: float32[1, 128, 14, 14] written
#
# kernel conv2d  # Y_init, Y_update
#   array X: float32, 25088 elements, global read param 0
#   array W: float32, 4096 elements, global read param 1
#   array Y: float32, 25088 elements, global read write param 2
#   array Y_cell: float32, 1 elements, local
#   cost 1605632 flop, 317440 bytes; accesses proved
#   parallel for n_o_f_fused from 0, 25088 times:
#     Y[n_o_f_fused] = 0.0
#     Y_cell[0] = Y[n_o_f_fused]
#     for c from 0, 32 times:
#       Y_cell[0] = Y_cell[0] + (X[((c * 784) + (((n_o_f_fused rem 196) / 14) * 56)) + ((n_o_f_fused rem 14) * 2)] * W[((n_o_f_fused / 196) * 32) + c])
#     Y[n_o_f_fused] = Y_cell[0]
