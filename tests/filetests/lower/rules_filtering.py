# test: lower
# target: avx2
# run: default rules
# A convolution by F(2, 3) over two images: a task transforms a row of tiles in all channels, multiplies, and transforms back, panel by
# panel. Nothing between the steps is in memory.

@T.prim_func
def winograd(X: T.Buffer((2, 4, 6, 16), "float32"), U: T.Buffer((4, 4, 16, 16), "float32"), Z: T.Buffer((2, 2, 4, 16), "float32")):
    rows = T.alloc_buffer((2, 1, 6, 4, 16), "float32")
    V = T.alloc_buffer((4, 4, 2, 1, 2, 16), "float32")
    M = T.alloc_buffer((4, 4, 2, 1, 2, 16), "float32")
    columns = T.alloc_buffer((2, 2, 2, 4, 16), "float32")
    for n, y, x, p, c in T.grid(2, 1, 6, 4, 16):
        with T.block("rows"):
            vn, vy, vx, vp, vc = T.axis.remap("SSSSS", [n, y, x, p, c])
            rows[vn, vy, vx, vp, vc] = T.if_then_else(vp == 0, X[vn, vy * 2 + 2, vx, vc] - X[vn, vy * 2, vx, vc], T.if_then_else(vp == 1, X[vn, vy * 2 + 1, vx, vc] + X[vn, vy * 2 + 2, vx, vc], T.if_then_else(vp == 2, X[vn, vy * 2 + 2, vx, vc] - X[vn, vy * 2 + 1, vx, vc], X[vn, vy * 2 + 3, vx, vc] - X[vn, vy * 2 + 1, vx, vc])))
    for p, q, n, y, x, c in T.grid(4, 4, 2, 1, 2, 16):
        with T.block("V"):
            vp, vq, vn, vy, vx, vc = T.axis.remap("SSSSSS", [p, q, n, y, x, c])
            V[vp, vq, vn, vy, vx, vc] = T.if_then_else(vq == 0, rows[vn, vy, vx * 2 + 2, vp, vc] - rows[vn, vy, vx * 2, vp, vc], T.if_then_else(vq == 1, rows[vn, vy, vx * 2 + 1, vp, vc] + rows[vn, vy, vx * 2 + 2, vp, vc], T.if_then_else(vq == 2, rows[vn, vy, vx * 2 + 2, vp, vc] - rows[vn, vy, vx * 2 + 1, vp, vc], rows[vn, vy, vx * 2 + 3, vp, vc] - rows[vn, vy, vx * 2 + 1, vp, vc])))
    for p, q, n, y, x, o, k in T.grid(4, 4, 2, 1, 2, 16, 16):
        with T.block("M"):
            vp, vq, vn, vy, vx, vo, vk = T.axis.remap("SSSSSSR", [p, q, n, y, x, o, k])
            with T.init():
                M[vp, vq, vn, vy, vx, vo] = T.float32(0)
            M[vp, vq, vn, vy, vx, vo] = M[vp, vq, vn, vy, vx, vo] + V[vp, vq, vn, vy, vx, vk] * U[vp, vq, vk, vo]
    for n, y, x, q, o in T.grid(2, 2, 2, 4, 16):
        with T.block("columns"):
            vn, vy, vx, vq, vo = T.axis.remap("SSSSS", [n, y, x, q, o])
            columns[vn, vy, vx, vq, vo] = T.if_then_else(vy % 2 == 0, M[0, vq, vn, vy // 2, vx, vo] + M[1, vq, vn, vy // 2, vx, vo] + M[2, vq, vn, vy // 2, vx, vo], M[1, vq, vn, vy // 2, vx, vo] - M[2, vq, vn, vy // 2, vx, vo] + M[3, vq, vn, vy // 2, vx, vo])
    for n, y, x, o in T.grid(2, 2, 4, 16):
        with T.block("Z"):
            vn, vy, vx, vo = T.axis.remap("SSSS", [n, y, x, o])
            Z[vn, vy, vx, vo] = T.if_then_else(vx % 2 == 0, columns[vn, vy, vx // 2, 0, vo] + columns[vn, vy, vx // 2, 1, vo] + columns[vn, vy, vx // 2, 2, vo], columns[vn, vy, vx // 2, 1, vo] - columns[vn, vy, vx // 2, 2, vo] + columns[vn, vy, vx // 2, 3, vo])
# expect-listing:
# func winograd()
#   param 0 X: float32[2, 4, 6, 16]
#   param 1 U: float32[4, 4, 16, 16]
#   param 2 Z: float32[2, 2, 4, 16] written
#
# kernel winograd  # rows, V, M_init, M_update, columns, Z
#   array X: float32, 768 elements, global read param 0
#   array U: float32, 4096 elements, global read param 1
#   array Z: float32, 256 elements, global write param 2
#   array rows_local: float32, 384 elements, local
#   array V_local: float32, 512 elements, local
#   array M_local: float32, 512 elements, local
#   array columns_local: float32, 256 elements, local
#   array M_local_cell.7: float32, 16 elements, local
#   array M_local_cell.8: float32, 16 elements, local
#   cost 43008 flop, 20480 bytes; accesses proved
#   parallel for n_x_0_0_fused from 0, 2 times:
#     for ax2.1 from 0, 6 times:
#       rows_local[ax2.1 * 64] = X[((n_x_0_0_fused * 384) + (ax2.1 * 16)) + 192 : 16] - X[(n_x_0_0_fused * 384) + (ax2.1 * 16) : 16]
#       rows_local[(ax2.1 * 64) + 16] = X[((n_x_0_0_fused * 384) + (ax2.1 * 16)) + 96 : 16] + X[((n_x_0_0_fused * 384) + (ax2.1 * 16)) + 192 : 16]
#       rows_local[(ax2.1 * 64) + 32] = X[((n_x_0_0_fused * 384) + (ax2.1 * 16)) + 192 : 16] - X[((n_x_0_0_fused * 384) + (ax2.1 * 16)) + 96 : 16]
#       rows_local[(ax2.1 * 64) + 48] = X[((n_x_0_0_fused * 384) + (ax2.1 * 16)) + 288 : 16] - X[((n_x_0_0_fused * 384) + (ax2.1 * 16)) + 96 : 16]
#     for ax4 from 0, 2 times:
#       for ax0.3 from 0, 4 times:
#         V_local[(ax0.3 * 128) + (ax4 * 16)] = rows_local[((ax4 * 128) + (ax0.3 * 16)) + 128 : 16] - rows_local[(ax4 * 128) + (ax0.3 * 16) : 16]
#         V_local[((ax0.3 * 128) + (ax4 * 16)) + 32] = rows_local[((ax4 * 128) + (ax0.3 * 16)) + 64 : 16] + rows_local[((ax4 * 128) + (ax0.3 * 16)) + 128 : 16]
#         V_local[((ax0.3 * 128) + (ax4 * 16)) + 64] = rows_local[((ax4 * 128) + (ax0.3 * 16)) + 128 : 16] - rows_local[((ax4 * 128) + (ax0.3 * 16)) + 64 : 16]
#         V_local[((ax0.3 * 128) + (ax4 * 16)) + 96] = rows_local[((ax4 * 128) + (ax0.3 * 16)) + 192 : 16] - rows_local[((ax4 * 128) + (ax0.3 * 16)) + 64 : 16]
#     for ax0.4 from 0, 4 times:
#       for ax1 from 0, 4 times:
#         M_local[(ax0.4 * 128) + (ax1 * 32)] = splat16(0.0)
#         M_local[((ax0.4 * 128) + (ax1 * 32)) + 16] = splat16(0.0)
#         M_local_cell.7[0] = M_local[(ax0.4 * 128) + (ax1 * 32) : 16]
#         M_local_cell.8[0] = M_local[((ax0.4 * 128) + (ax1 * 32)) + 16 : 16]
#         for ax6 from 0, 16 times:
#           M_local_cell.7[0] = M_local_cell.7[0 : 16] + (splat16(V_local[((ax0.4 * 128) + (ax1 * 32)) + ax6]) * U[((ax0.4 * 1024) + (ax1 * 256)) + (ax6 * 16) : 16])
#           M_local_cell.8[0] = M_local_cell.8[0 : 16] + (splat16(V_local[(((ax0.4 * 128) + (ax1 * 32)) + ax6) + 16]) * U[((ax0.4 * 1024) + (ax1 * 256)) + (ax6 * 16) : 16])
#         M_local[(ax0.4 * 128) + (ax1 * 32)] = M_local_cell.7[0 : 16]
#         M_local[((ax0.4 * 128) + (ax1 * 32)) + 16] = M_local_cell.8[0 : 16]
#     for ax2.7 from 0, 2 times:
#       for ax3 from 0, 4 times:
#         columns_local[(ax2.7 * 64) + (ax3 * 16)] = (M_local[(ax3 * 32) + (ax2.7 * 16) : 16] + M_local[((ax3 * 32) + (ax2.7 * 16)) + 128 : 16]) + M_local[((ax3 * 32) + (ax2.7 * 16)) + 256 : 16]
#         columns_local[((ax2.7 * 64) + (ax3 * 16)) + 128] = (M_local[((ax3 * 32) + (ax2.7 * 16)) + 128 : 16] - M_local[((ax3 * 32) + (ax2.7 * 16)) + 256 : 16]) + M_local[((ax3 * 32) + (ax2.7 * 16)) + 384 : 16]
#     for x_0_1 from 0, 2 times:
#       for y from 0, 2 times:
#         Z[((n_x_0_0_fused * 128) + (y * 64)) + (x_0_1 * 32)] = (columns_local[(y * 128) + (x_0_1 * 64) : 16] + columns_local[((y * 128) + (x_0_1 * 64)) + 16 : 16]) + columns_local[((y * 128) + (x_0_1 * 64)) + 32 : 16]
#         Z[(((n_x_0_0_fused * 128) + (y * 64)) + (x_0_1 * 32)) + 16] = (columns_local[((y * 128) + (x_0_1 * 64)) + 16 : 16] - columns_local[((y * 128) + (x_0_1 * 64)) + 32 : 16]) + columns_local[((y * 128) + (x_0_1 * 64)) + 48 : 16]
