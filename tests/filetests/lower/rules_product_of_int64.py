# test: lower
# target: avx2
# run: default rules
# Four registers are a panel of 16 columns: two rows of sums fill half of them.

@T.prim_func
def product(A: T.Buffer((33, 300), "int64"), B: T.Buffer((300, 50), "int64"), C: T.Buffer((33, 50), "int64")):
    for i, j, k in T.grid(33, 50, 300):
        with T.block("C"):
            vi, vj, vk = T.axis.remap("SSR", [i, j, k])
            with T.init():
                C[vi, vj] = T.int64(0)
            C[vi, vj] = C[vi, vj] + A[vi, vk] * B[vk, vj]
# expect-listing:
# func product()
#   param 0 A: int64[33, 300]
#   param 1 B: int64[300, 50]
#   param 2 C: int64[33, 50] written
#
# kernel product  # C_init, B_local, C_update, C_local
#   array A: int64, 9900 elements, global read param 0
#   array B: int64, 15000 elements, global read param 1
#   array C: int64, 1650 elements, global write param 2
#   array C_local: int64, 544 elements, local
#   array B_local: int64, 2400 elements, local
#   array C_local_cell.5: int64, 16 elements, local
#   array C_local_cell.6: int64, 16 elements, local
#   cost 0 flop, 212400 bytes; accesses proved
#   parallel for i_0_j_0_fused from 0, 4 times:
#     for i_1_init from 0, 17 times:
#       C_local[i_1_init * 32] = splat16(0)
#       C_local[(i_1_init * 32) + 16] = splat16(0)
#     for k_0 from 0, 2 times:
#       for ax0.3 from 0, 150 times:
#         B_local[ax0.3 * 16] = B[((k_0 * 7500) + (ax0.3 * 50)) + (i_0_j_0_fused * 16) : 16, first 50 - (i_0_j_0_fused * 16)]
#       for i_1 from 0, 17 times:
#         C_local_cell.5[0] = C_local[i_1 * 32 : 16]
#         C_local_cell.6[0] = C_local[(i_1 * 32) + 16 : 16]
#         for k_1 from 0, 150 times:
#           C_local_cell.5[0] = C_local_cell.5[0 : 16] + (splat16(A[((min((i_1 * 2), 32) * 300) + (k_0 * 150)) + k_1]) * B_local[k_1 * 16 : 16])
#           C_local_cell.6[0] = C_local_cell.6[0 : 16] + (splat16(A[((min(((i_1 * 2) + 1), 32) * 300) + (k_0 * 150)) + k_1]) * B_local[k_1 * 16 : 16])
#         C_local[i_1 * 32] = C_local_cell.5[0 : 16]
#         C_local[(i_1 * 32) + 16] = C_local_cell.6[0 : 16]
#     for ax0.6 from 0, 33 times:
#       C[(ax0.6 * 50) + (i_0_j_0_fused * 16) : 16, first 50 - (i_0_j_0_fused * 16)] = C_local[ax0.6 * 16 : 16, first 50 - (i_0_j_0_fused * 16)]
