# test: lower
# target: avx512
# run: default rules
# Two registers are a panel of 16 columns, and 128 rows of them fill a third of the L1 cache.

@T.prim_func
def product(A: T.Buffer((33, 300), "float64"), B: T.Buffer((300, 50), "float64"), C: T.Buffer((33, 50), "float64")):
    for i, j, k in T.grid(33, 50, 300):
        with T.block("C"):
            vi, vj, vk = T.axis.remap("SSR", [i, j, k])
            with T.init():
                C[vi, vj] = T.float64(0)
            C[vi, vj] = C[vi, vj] + A[vi, vk] * B[vk, vj]
# expect-listing:
# func product()
#   param 0 A: float64[33, 300]
#   param 1 B: float64[300, 50]
#   param 2 C: float64[33, 50] written
#
# kernel product  # C_init, B_local, C_update, C_local
#   array A: float64, 9900 elements, global read param 0
#   array B: float64, 15000 elements, global read param 1
#   array C: float64, 1650 elements, global write param 2
#   array C_local: float64, 640 elements, local
#   array B_local: float64, 2400 elements, local
#   array C_local_cell.5: float64, 16 elements, local
#   array C_local_cell.6: float64, 16 elements, local
#   array C_local_cell.7: float64, 16 elements, local
#   array C_local_cell.8: float64, 16 elements, local
#   array C_local_cell.9: float64, 16 elements, local
#   array C_local_cell.10: float64, 16 elements, local
#   array C_local_cell.11: float64, 16 elements, local
#   array C_local_cell.12: float64, 16 elements, local
#   array C_local_cell.13: float64, 16 elements, local
#   array C_local_cell.14: float64, 16 elements, local
#   array C_local_cell.15: float64, 16 elements, local
#   array C_local_cell.16: float64, 16 elements, local
#   array C_local_cell.17: float64, 16 elements, local
#   array C_local_cell.18: float64, 16 elements, local
#   array C_local_cell.19: float64, 16 elements, local
#   array C_local_cell.20: float64, 16 elements, local
#   array C_local_cell.21: float64, 16 elements, local
#   cost 990000 flop, 212400 bytes; accesses proved
#   parallel for i_0_j_0_fused from 0, 4 times:
#     for i_1_init from 0, 5 times:
#       C_local[i_1_init * 128] = splat16(0.0)
#       C_local[(i_1_init * 128) + 16] = splat16(0.0)
#       C_local[(i_1_init * 128) + 32] = splat16(0.0)
#       C_local[(i_1_init * 128) + 48] = splat16(0.0)
#       C_local[(i_1_init * 128) + 64] = splat16(0.0)
#       C_local[(i_1_init * 128) + 80] = splat16(0.0)
#       C_local[(i_1_init * 128) + 96] = splat16(0.0)
#       C_local[(i_1_init * 128) + 112] = splat16(0.0)
#     for k_0 from 0, 2 times:
#       for ax0.3 from 0, 150 times:
#         B_local[ax0.3 * 16] = B[((k_0 * 7500) + (ax0.3 * 50)) + (i_0_j_0_fused * 16) : 16, first 50 - (i_0_j_0_fused * 16)]
#       for i_1 from 0, 3 times:
#         C_local_cell.5[0] = C_local[i_1 * 128 : 16]
#         C_local_cell.6[0] = C_local[(i_1 * 128) + 16 : 16]
#         C_local_cell.7[0] = C_local[(i_1 * 128) + 32 : 16]
#         C_local_cell.8[0] = C_local[(i_1 * 128) + 48 : 16]
#         C_local_cell.9[0] = C_local[(i_1 * 128) + 64 : 16]
#         C_local_cell.10[0] = C_local[(i_1 * 128) + 80 : 16]
#         C_local_cell.11[0] = C_local[(i_1 * 128) + 96 : 16]
#         C_local_cell.12[0] = C_local[(i_1 * 128) + 112 : 16]
#         for k_1.5 from 0, 150 times:
#           C_local_cell.5[0] = C_local_cell.5[0 : 16] + (splat16(A[((i_1 * 2400) + (k_0 * 150)) + k_1.5]) * B_local[k_1.5 * 16 : 16])
#           C_local_cell.6[0] = C_local_cell.6[0 : 16] + (splat16(A[(((i_1 * 2400) + (k_0 * 150)) + k_1.5) + 300]) * B_local[k_1.5 * 16 : 16])
#           C_local_cell.7[0] = C_local_cell.7[0 : 16] + (splat16(A[(((i_1 * 2400) + (k_0 * 150)) + k_1.5) + 600]) * B_local[k_1.5 * 16 : 16])
#           C_local_cell.8[0] = C_local_cell.8[0 : 16] + (splat16(A[(((i_1 * 2400) + (k_0 * 150)) + k_1.5) + 900]) * B_local[k_1.5 * 16 : 16])
#           C_local_cell.9[0] = C_local_cell.9[0 : 16] + (splat16(A[(((i_1 * 2400) + (k_0 * 150)) + k_1.5) + 1200]) * B_local[k_1.5 * 16 : 16])
#           C_local_cell.10[0] = C_local_cell.10[0 : 16] + (splat16(A[(((i_1 * 2400) + (k_0 * 150)) + k_1.5) + 1500]) * B_local[k_1.5 * 16 : 16])
#           C_local_cell.11[0] = C_local_cell.11[0 : 16] + (splat16(A[(((i_1 * 2400) + (k_0 * 150)) + k_1.5) + 1800]) * B_local[k_1.5 * 16 : 16])
#           C_local_cell.12[0] = C_local_cell.12[0 : 16] + (splat16(A[(((i_1 * 2400) + (k_0 * 150)) + k_1.5) + 2100]) * B_local[k_1.5 * 16 : 16])
#         C_local[i_1 * 128] = C_local_cell.5[0 : 16]
#         C_local[(i_1 * 128) + 16] = C_local_cell.6[0 : 16]
#         C_local[(i_1 * 128) + 32] = C_local_cell.7[0 : 16]
#         C_local[(i_1 * 128) + 48] = C_local_cell.8[0 : 16]
#         C_local[(i_1 * 128) + 64] = C_local_cell.9[0 : 16]
#         C_local[(i_1 * 128) + 80] = C_local_cell.10[0 : 16]
#         C_local[(i_1 * 128) + 96] = C_local_cell.11[0 : 16]
#         C_local[(i_1 * 128) + 112] = C_local_cell.12[0 : 16]
#       C_local_cell.13[0] = C_local[384 : 16]
#       C_local_cell.14[0] = C_local[400 : 16]
#       C_local_cell.15[0] = C_local[416 : 16]
#       C_local_cell.16[0] = C_local[432 : 16]
#       C_local_cell.17[0] = C_local[448 : 16]
#       C_local_cell.18[0] = C_local[464 : 16]
#       C_local_cell.19[0] = C_local[480 : 16]
#       C_local_cell.20[0] = C_local[496 : 16]
#       C_local_cell.21[0] = C_local[512 : 16]
#       for k_1.6 from 0, 150 times:
#         C_local_cell.13[0] = C_local_cell.13[0 : 16] + (splat16(A[((24 * 300) + (k_0 * 150)) + k_1.6]) * B_local[k_1.6 * 16 : 16])
#         C_local_cell.14[0] = C_local_cell.14[0 : 16] + (splat16(A[((25 * 300) + (k_0 * 150)) + k_1.6]) * B_local[k_1.6 * 16 : 16])
#         C_local_cell.15[0] = C_local_cell.15[0 : 16] + (splat16(A[((26 * 300) + (k_0 * 150)) + k_1.6]) * B_local[k_1.6 * 16 : 16])
#         C_local_cell.16[0] = C_local_cell.16[0 : 16] + (splat16(A[((27 * 300) + (k_0 * 150)) + k_1.6]) * B_local[k_1.6 * 16 : 16])
#         C_local_cell.17[0] = C_local_cell.17[0 : 16] + (splat16(A[((28 * 300) + (k_0 * 150)) + k_1.6]) * B_local[k_1.6 * 16 : 16])
#         C_local_cell.18[0] = C_local_cell.18[0 : 16] + (splat16(A[((29 * 300) + (k_0 * 150)) + k_1.6]) * B_local[k_1.6 * 16 : 16])
#         C_local_cell.19[0] = C_local_cell.19[0 : 16] + (splat16(A[((30 * 300) + (k_0 * 150)) + k_1.6]) * B_local[k_1.6 * 16 : 16])
#         C_local_cell.20[0] = C_local_cell.20[0 : 16] + (splat16(A[((31 * 300) + (k_0 * 150)) + k_1.6]) * B_local[k_1.6 * 16 : 16])
#         C_local_cell.21[0] = C_local_cell.21[0 : 16] + (splat16(A[((32 * 300) + (k_0 * 150)) + k_1.6]) * B_local[k_1.6 * 16 : 16])
#       C_local[384] = C_local_cell.13[0 : 16]
#       C_local[400] = C_local_cell.14[0 : 16]
#       C_local[416] = C_local_cell.15[0 : 16]
#       C_local[432] = C_local_cell.16[0 : 16]
#       C_local[448] = C_local_cell.17[0 : 16]
#       C_local[464] = C_local_cell.18[0 : 16]
#       C_local[480] = C_local_cell.19[0 : 16]
#       C_local[496] = C_local_cell.20[0 : 16]
#       C_local[512] = C_local_cell.21[0 : 16]
#     for ax0.7 from 0, 33 times:
#       C[(ax0.7 * 50) + (i_0_j_0_fused * 16) : 16, first 50 - (i_0_j_0_fused * 16)] = C_local[ax0.7 * 16 : 16, first 50 - (i_0_j_0_fused * 16)]
