# test: lower
# target: avx2
# run: default rules
# Four panels are copied side by side, rows of five lines apart. The last strip has half a panel.

@T.prim_func
def matmul(A: T.Buffer((1000, 1000), "float32"), B: T.Buffer((1000, 1000), "float32"), C: T.Buffer((1000, 1000), "float32")):
    for i, j, k in T.grid(1000, 1000, 1000):
        with T.block("C"):
            vi, vj, vk = T.axis.remap("SSR", [i, j, k])
            with T.init():
                C[vi, vj] = T.float32(0)
            C[vi, vj] = C[vi, vj] + A[vi, vk] * B[vk, vj]
# expect-listing:
# func matmul()
#   param 0 A: float32[1000, 1000]
#   param 1 B: float32[1000, 1000]
#   param 2 C: float32[1000, 1000] written
#
# kernel matmul  # C_init, B_local, C_update, C_local
#   array A: float32, 1000000 elements, global read param 0
#   array B: float32, 1000000 elements, global read param 1
#   array C: float32, 1000000 elements, global write param 2
#   array C_local: float32, 21504 elements, local
#   array B_local: float32, 20000 elements, local
#   array C_local_cell.5: float32, 16 elements, local
#   array C_local_cell.6: float32, 16 elements, local
#   array C_local_cell.7: float32, 16 elements, local
#   array C_local_cell.8: float32, 16 elements, local
#   array C_local_cell.9: float32, 16 elements, local
#   array C_local_cell.10: float32, 16 elements, local
#   cost 2000000000 flop, 12000000 bytes; accesses proved
#   parallel for i_0_j_0_fused from 0, 48 times:
#     for j_1_init from 0, min(((i_0_j_0_fused & 15) * -4), -59) + 63 times:
#       for i_1_init from 0, min(((i_0_j_0_fused >> 4) * -56), -111) + 167 times:
#         C_local[(i_1_init * 384) + (j_1_init * 16)] = splat16(0.0)
#         C_local[((i_1_init * 384) + (j_1_init * 16)) + 64] = splat16(0.0)
#         C_local[((i_1_init * 384) + (j_1_init * 16)) + 128] = splat16(0.0)
#         C_local[((i_1_init * 384) + (j_1_init * 16)) + 192] = splat16(0.0)
#         C_local[((i_1_init * 384) + (j_1_init * 16)) + 256] = splat16(0.0)
#         C_local[((i_1_init * 384) + (j_1_init * 16)) + 320] = splat16(0.0)
#     for k_0 from 0, 4 times:
#       for ax0.4 from 0, 250 times:
#         for ax1_0.5 from 0, min(((i_0_j_0_fused & 15) * -4), -59) + 63 times:
#           B_local[(ax0.4 * 80) + (ax1_0.5 * 16)] = B[(((k_0 * 250000) + (ax0.4 * 1000)) + ((i_0_j_0_fused & 15) * 64)) + (ax1_0.5 * 16) : 16, first (1000 - ((i_0_j_0_fused & 15) * 64)) - (ax1_0.5 * 16)]
#       for j_1 from 0, min(((i_0_j_0_fused & 15) * -4), -59) + 63 times:
#         for i_1 from 0, min(((i_0_j_0_fused >> 4) * -56), -111) + 167 times:
#           C_local_cell.5[0] = C_local[(i_1 * 384) + (j_1 * 16) : 16]
#           C_local_cell.6[0] = C_local[((i_1 * 384) + (j_1 * 16)) + 64 : 16]
#           C_local_cell.7[0] = C_local[((i_1 * 384) + (j_1 * 16)) + 128 : 16]
#           C_local_cell.8[0] = C_local[((i_1 * 384) + (j_1 * 16)) + 192 : 16]
#           C_local_cell.9[0] = C_local[((i_1 * 384) + (j_1 * 16)) + 256 : 16]
#           C_local_cell.10[0] = C_local[((i_1 * 384) + (j_1 * 16)) + 320 : 16]
#           for k_1 from 0, 250 times:
#             C_local_cell.5[0] = C_local_cell.5[0 : 16] + (splat16(A[((min((((i_0_j_0_fused >> 4) * 336) + (i_1 * 6)), 999) * 1000) + (k_0 * 250)) + k_1]) * B_local[(k_1 * 80) + (j_1 * 16) : 16])
#             C_local_cell.6[0] = C_local_cell.6[0 : 16] + (splat16(A[((min(((((i_0_j_0_fused >> 4) * 336) + (i_1 * 6)) + 1), 999) * 1000) + (k_0 * 250)) + k_1]) * B_local[(k_1 * 80) + (j_1 * 16) : 16])
#             C_local_cell.7[0] = C_local_cell.7[0 : 16] + (splat16(A[((min(((((i_0_j_0_fused >> 4) * 336) + (i_1 * 6)) + 2), 999) * 1000) + (k_0 * 250)) + k_1]) * B_local[(k_1 * 80) + (j_1 * 16) : 16])
#             C_local_cell.8[0] = C_local_cell.8[0 : 16] + (splat16(A[((min(((((i_0_j_0_fused >> 4) * 336) + (i_1 * 6)) + 3), 999) * 1000) + (k_0 * 250)) + k_1]) * B_local[(k_1 * 80) + (j_1 * 16) : 16])
#             C_local_cell.9[0] = C_local_cell.9[0 : 16] + (splat16(A[((min(((((i_0_j_0_fused >> 4) * 336) + (i_1 * 6)) + 4), 999) * 1000) + (k_0 * 250)) + k_1]) * B_local[(k_1 * 80) + (j_1 * 16) : 16])
#             C_local_cell.10[0] = C_local_cell.10[0 : 16] + (splat16(A[((min(((((i_0_j_0_fused >> 4) * 336) + (i_1 * 6)) + 5), 999) * 1000) + (k_0 * 250)) + k_1]) * B_local[(k_1 * 80) + (j_1 * 16) : 16])
#           C_local[(i_1 * 384) + (j_1 * 16)] = C_local_cell.5[0 : 16]
#           C_local[((i_1 * 384) + (j_1 * 16)) + 64] = C_local_cell.6[0 : 16]
#           C_local[((i_1 * 384) + (j_1 * 16)) + 128] = C_local_cell.7[0 : 16]
#           C_local[((i_1 * 384) + (j_1 * 16)) + 192] = C_local_cell.8[0 : 16]
#           C_local[((i_1 * 384) + (j_1 * 16)) + 256] = C_local_cell.9[0 : 16]
#           C_local[((i_1 * 384) + (j_1 * 16)) + 320] = C_local_cell.10[0 : 16]
#     for ax0.9 from 0, (min(((i_0_j_0_fused >> 4) * -42), -83) * 8) + 1000 times:
#       for ax1_0.10 from 0, 4 times:
#         C[((((i_0_j_0_fused >> 4) * 336000) + (ax0.9 * 1000)) + ((i_0_j_0_fused & 15) * 64)) + (ax1_0.10 * 16) : 16, first (1000 - ((i_0_j_0_fused & 15) * 64)) - (ax1_0.10 * 16)] = C_local[(ax0.9 * 64) + (ax1_0.10 * 16) : 16, first (1000 - ((i_0_j_0_fused & 15) * 64)) - (ax1_0.10 * 16)]
