# test: lower
# target: cpu
# run: default rules
# A tile of a product is deeper than the product: what is copied for it is that of one product of the batch.

@T.prim_func
def main(x1: T.Buffer((2, 9, 4, 6), "float32"), x2: T.Buffer((2, 9, 6, 8), "float32"), y: T.Buffer((2, 9, 4, 8), "float32")):
    for a, b, i, j, k in T.grid(2, 9, 4, 8, 6):
        with T.block("matmul"):
            va, vb, vi, vj, vk = T.axis.remap("SSSSR", [a, b, i, j, k])
            with T.init():
                y[va, vb, vi, vj] = T.float32(0)
            y[va, vb, vi, vj] = y[va, vb, vi, vj] + x1[va, vb, vi, vk] * x2[va, vb, vk, vj]
# expect-listing:
# func main()
#   param 0 x1: float32[2, 9, 4, 6]
#   param 1 x2: float32[2, 9, 6, 8]
#   param 2 y: float32[2, 9, 4, 8] written
#
# kernel main  # matmul_init, x2_local, matmul_update, y_local
#   array x1: float32, 432 elements, global read param 0
#   array x2: float32, 864 elements, global read param 1
#   array y: float32, 576 elements, global write param 2
#   array y_local: float32, 64 elements, local
#   array x2_local: float32, 96 elements, local
#   array y_local_cell.5: float32, 16 elements, local
#   array y_local_cell.6: float32, 16 elements, local
#   cost 6912 flop, 7488 bytes; accesses proved
#   parallel for a_b_fused_i_0_j_0_fused from 0, 18 times:
#     for i_1_init from 0, 2 times:
#       y_local[i_1_init * 32] = splat16(0.0)
#       y_local[(i_1_init * 32) + 16] = splat16(0.0)
#     for ax2.2 from 0, 6 times:
#       x2_local[ax2.2 * 16] = x2[(ax2.2 * 8) + (a_b_fused_i_0_j_0_fused * 48) : 8]
#     for i_1 from 0, 2 times:
#       y_local_cell.5[0] = y_local[i_1 * 32 : 16]
#       y_local_cell.6[0] = y_local[(i_1 * 32) + 16 : 16]
#       for k_1 from 0, 6 times:
#         y_local_cell.5[0] = y_local_cell.5[0 : 16] + (splat16(x1[((i_1 * 12) + k_1) + (a_b_fused_i_0_j_0_fused * 24)]) * x2_local[k_1 * 16 : 16])
#         y_local_cell.6[0] = y_local_cell.6[0 : 16] + (splat16(x1[(((i_1 * 12) + k_1) + (a_b_fused_i_0_j_0_fused * 24)) + 6]) * x2_local[k_1 * 16 : 16])
#       y_local[i_1 * 32] = y_local_cell.5[0 : 16]
#       y_local[(i_1 * 32) + 16] = y_local_cell.6[0 : 16]
#     for ax2.5 from 0, 4 times:
#       y[(ax2.5 * 8) + (a_b_fused_i_0_j_0_fused * 32) : 16, first 8] = y_local[ax2.5 * 16 : 16, first 8]
