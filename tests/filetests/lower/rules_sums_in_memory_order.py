# test: lower
# target: avx512
# run: default rules
# Axes are named in another order than memory has them. Rows and columns are whole, so that the sum of a group of two channels is one loop.

@T.prim_func
def sums(X: T.Buffer((3, 8, 7, 5), "float32"), Y: T.Buffer((3, 4), "float32")):
    for n, g, h, w, c in T.grid(3, 4, 7, 5, 2):
        with T.block("Y"):
            vn, vg, vh, vw, vc = T.axis.remap("SSRRR", [n, g, h, w, c])
            with T.init():
                Y[vn, vg] = T.float32(0)
            Y[vn, vg] = Y[vn, vg] + X[vn, vg * 2 + vc, vh, vw]
# expect-listing:
# func sums()
#   param 0 X: float32[3, 8, 7, 5]
#   param 1 Y: float32[3, 4] written
#
# kernel sums  # Y_init, Y_update
#   array X: float32, 840 elements, global read param 0
#   array Y: float32, 12 elements, global read write param 1
#   array Y_cell: float32, 1 elements, local
#   cost 840 flop, 3456 bytes; accesses proved
#   parallel for n_g_fused from 0, 12 times:
#     Y[n_g_fused] = 0.0
#     Y_cell[0] = Y[n_g_fused]
#     simd reduction for c_h_w_fused from 0, 70 times:
#       Y_cell[0] = Y_cell[0] + X[(n_g_fused * 70) + c_h_w_fused]
#     Y[n_g_fused] = Y_cell[0]
