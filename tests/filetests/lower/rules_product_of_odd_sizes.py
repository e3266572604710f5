# test: lower
# target: avx512
# run: default rules
# No tile divides the rows and columns: sums are kept in an array of the thread, and what is past the end is not written back. Blocks of rows are of one
# size, and panels are taken in pairs, although the last pair has one.

@T.prim_func
def matmul(A: T.Buffer((145, 20), "float32"), B: T.Buffer((20, 105), "float32"), C: T.Buffer((145, 105), "float32")):
    for i, j, k in T.grid(145, 105, 20):
        with T.block("C"):
            vi, vj, vk = T.axis.remap("SSR", [i, j, k])
            with T.init():
                C[vi, vj] = T.float32(0)
            C[vi, vj] = C[vi, vj] + A[vi, vk] * B[vk, vj]
# expect-listing:
# func matmul()
#   param 0 A: float32[145, 20]
#   param 1 B: float32[20, 105]
#   param 2 C: float32[145, 105] written
#
# kernel matmul  # C_init, B_local, C_update, C_local
#   array A: float32, 2900 elements, global read param 0
#   array B: float32, 2100 elements, global read param 1
#   array C: float32, 15225 elements, global write param 2
#   array C_local: float32, 2400 elements, local
#   array B_local: float32, 640 elements, local
#   array C_local_cell.5: float32, 16 elements, local
#   array C_local_cell.6: float32, 16 elements, local
#   array C_local_cell.7: float32, 16 elements, local
#   array C_local_cell.8: float32, 16 elements, local
#   array C_local_cell.9: float32, 16 elements, local
#   array C_local_cell.10: float32, 16 elements, local
#   array C_local_cell.11: float32, 16 elements, local
#   array C_local_cell.12: float32, 16 elements, local
#   array C_local_cell.13: float32, 16 elements, local
#   array C_local_cell.14: float32, 16 elements, local
#   cost 609000 flop, 80900 bytes; accesses proved
#   parallel for i_0_j_0_fused from 0, 8 times:
#     for i_1_init from 0, min(((i_0_j_0_fused >> 2) * -15), -14) + 29 times:
#       C_local[i_1_init * 160] = splat16(0.0)
#       C_local[(i_1_init * 160) + 16] = splat16(0.0)
#       C_local[(i_1_init * 160) + 32] = splat16(0.0)
#       C_local[(i_1_init * 160) + 48] = splat16(0.0)
#       C_local[(i_1_init * 160) + 64] = splat16(0.0)
#       C_local[(i_1_init * 160) + 80] = splat16(0.0)
#       C_local[(i_1_init * 160) + 96] = splat16(0.0)
#       C_local[(i_1_init * 160) + 112] = splat16(0.0)
#       C_local[(i_1_init * 160) + 128] = splat16(0.0)
#       C_local[(i_1_init * 160) + 144] = splat16(0.0)
#     for ax0.2 from 0, 20 times:
#       B_local[ax0.2 * 32] = B[(ax0.2 * 105) + ((i_0_j_0_fused & 3) * 32) : 16, first 105 - ((i_0_j_0_fused & 3) * 32)]
#       B_local[(ax0.2 * 32) + 16] = B[((ax0.2 * 105) + ((i_0_j_0_fused & 3) * 32)) + 16 : 16, first 89 - ((i_0_j_0_fused & 3) * 32)]
#     for i_1 from 0, min(((i_0_j_0_fused >> 2) * -15), -14) + 29 times:
#       C_local_cell.5[0] = C_local[i_1 * 160 : 16]
#       C_local_cell.6[0] = C_local[(i_1 * 160) + 16 : 16]
#       C_local_cell.7[0] = C_local[(i_1 * 160) + 32 : 16]
#       C_local_cell.8[0] = C_local[(i_1 * 160) + 48 : 16]
#       C_local_cell.9[0] = C_local[(i_1 * 160) + 64 : 16]
#       C_local_cell.10[0] = C_local[(i_1 * 160) + 80 : 16]
#       C_local_cell.11[0] = C_local[(i_1 * 160) + 96 : 16]
#       C_local_cell.12[0] = C_local[(i_1 * 160) + 112 : 16]
#       C_local_cell.13[0] = C_local[(i_1 * 160) + 128 : 16]
#       C_local_cell.14[0] = C_local[(i_1 * 160) + 144 : 16]
#       for k_1 from 0, 20 times:
#         C_local_cell.5[0] = C_local_cell.5[0 : 16] + (splat16(A[(min((((i_0_j_0_fused >> 2) * 75) + (i_1 * 5)), 140) * 20) + k_1]) * B_local[k_1 * 32 : 16])
#         C_local_cell.6[0] = C_local_cell.6[0 : 16] + (splat16(A[(min((((i_0_j_0_fused >> 2) * 75) + (i_1 * 5)), 140) * 20) + k_1]) * B_local[(k_1 * 32) + 16 : 16])
#         C_local_cell.7[0] = C_local_cell.7[0 : 16] + (splat16(A[((min((((i_0_j_0_fused >> 2) * 75) + (i_1 * 5)), 140) * 20) + k_1) + 20]) * B_local[k_1 * 32 : 16])
#         C_local_cell.8[0] = C_local_cell.8[0 : 16] + (splat16(A[((min((((i_0_j_0_fused >> 2) * 75) + (i_1 * 5)), 140) * 20) + k_1) + 20]) * B_local[(k_1 * 32) + 16 : 16])
#         C_local_cell.9[0] = C_local_cell.9[0 : 16] + (splat16(A[((min((((i_0_j_0_fused >> 2) * 75) + (i_1 * 5)), 140) * 20) + k_1) + 40]) * B_local[k_1 * 32 : 16])
#         C_local_cell.10[0] = C_local_cell.10[0 : 16] + (splat16(A[((min((((i_0_j_0_fused >> 2) * 75) + (i_1 * 5)), 140) * 20) + k_1) + 40]) * B_local[(k_1 * 32) + 16 : 16])
#         C_local_cell.11[0] = C_local_cell.11[0 : 16] + (splat16(A[((min((((i_0_j_0_fused >> 2) * 75) + (i_1 * 5)), 140) * 20) + k_1) + 60]) * B_local[k_1 * 32 : 16])
#         C_local_cell.12[0] = C_local_cell.12[0 : 16] + (splat16(A[((min((((i_0_j_0_fused >> 2) * 75) + (i_1 * 5)), 140) * 20) + k_1) + 60]) * B_local[(k_1 * 32) + 16 : 16])
#         C_local_cell.13[0] = C_local_cell.13[0 : 16] + (splat16(A[((min((((i_0_j_0_fused >> 2) * 75) + (i_1 * 5)), 140) * 20) + k_1) + 80]) * B_local[k_1 * 32 : 16])
#         C_local_cell.14[0] = C_local_cell.14[0 : 16] + (splat16(A[((min((((i_0_j_0_fused >> 2) * 75) + (i_1 * 5)), 140) * 20) + k_1) + 80]) * B_local[(k_1 * 32) + 16 : 16])
#       C_local[i_1 * 160] = C_local_cell.5[0 : 16]
#       C_local[(i_1 * 160) + 16] = C_local_cell.6[0 : 16]
#       C_local[(i_1 * 160) + 32] = C_local_cell.7[0 : 16]
#       C_local[(i_1 * 160) + 48] = C_local_cell.8[0 : 16]
#       C_local[(i_1 * 160) + 64] = C_local_cell.9[0 : 16]
#       C_local[(i_1 * 160) + 80] = C_local_cell.10[0 : 16]
#       C_local[(i_1 * 160) + 96] = C_local_cell.11[0 : 16]
#       C_local[(i_1 * 160) + 112] = C_local_cell.12[0 : 16]
#       C_local[(i_1 * 160) + 128] = C_local_cell.13[0 : 16]
#       C_local[(i_1 * 160) + 144] = C_local_cell.14[0 : 16]
#     for ax0.5 from 0, (min(((i_0_j_0_fused >> 2) * -15), -14) * 5) + 145 times:
#       for ax1_0 from 0, 2 times:
#         C[((((i_0_j_0_fused >> 2) * 7875) + (ax0.5 * 105)) + ((i_0_j_0_fused & 3) * 32)) + (ax1_0 * 16) : 16, first (105 - ((i_0_j_0_fused & 3) * 32)) - (ax1_0 * 16)] = C_local[(ax0.5 * 32) + (ax1_0 * 16) : 16, first (105 - ((i_0_j_0_fused & 3) * 32)) - (ax1_0 * 16)]
