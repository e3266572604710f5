# test: lower
# target: avx2
# run: default rules
# Sums of 64 bits would not fit the stack beside four panels, so panels are copied one by one.

@T.prim_func
def matmul(A: T.Buffer((768, 768), "float64"), B: T.Buffer((768, 512), "float64"), D: T.Buffer((512,), "float64"), Y: T.Buffer((768, 512), "float64")):
    C = T.alloc_buffer((768, 512), "float64")
    for i, j, k in T.grid(768, 512, 768):
        with T.block("C"):
            vi, vj, vk = T.axis.remap("SSR", [i, j, k])
            with T.init():
                C[vi, vj] = T.float64(0)
            C[vi, vj] = C[vi, vj] + A[vi, vk] * B[vk, vj]
    for i, j in T.grid(768, 512):
        with T.block("Y"):
            vi, vj = T.axis.remap("SS", [i, j])
            Y[vi, vj] = C[vi, vj] + D[vj]
# expect-listing:
# func matmul()
#   param 0 A: float64[768, 768]
#   param 1 B: float64[768, 512]
#   param 2 D: float64[512]
#   param 3 Y: float64[768, 512] written
#
# kernel matmul  # C_init, B_local, C_update, C_local
#   array A: float64, 589824 elements, global read param 0
#   array B: float64, 393216 elements, global read param 1
#   array D: float64, 512 elements, global read param 2
#   array Y: float64, 393216 elements, global write param 3
#   array C_local: float64, 6144 elements, local
#   array B_local: float64, 2048 elements, local
#   array C_local_cell.6: float64, 16 elements, local
#   array C_local_cell.7: float64, 16 elements, local
#   cost 604372992 flop, 11014144 bytes; accesses proved
#   parallel for i_0_j_0_fused from 0, 64 times:
#     for i_1_init from 0, 192 times:
#       C_local[i_1_init * 32] = splat16(0.0)
#       C_local[(i_1_init * 32) + 16] = splat16(0.0)
#     for k_0 from 0, 6 times:
#       for ax0.3 from 0, 128 times:
#         B_local[ax0.3 * 16] = B[((k_0 * 65536) + (ax0.3 * 512)) + ((i_0_j_0_fused & 31) * 16) : 16]
#       for i_1 from 0, 192 times:
#         C_local_cell.6[0] = C_local[i_1 * 32 : 16]
#         C_local_cell.7[0] = C_local[(i_1 * 32) + 16 : 16]
#         for k_1 from 0, 128 times:
#           C_local_cell.6[0] = C_local_cell.6[0 : 16] + (splat16(A[((((i_0_j_0_fused >> 5) * 294912) + (i_1 * 1536)) + (k_0 * 128)) + k_1]) * B_local[k_1 * 16 : 16])
#           C_local_cell.7[0] = C_local_cell.7[0 : 16] + (splat16(A[(((((i_0_j_0_fused >> 5) * 294912) + (i_1 * 1536)) + (k_0 * 128)) + k_1) + 768]) * B_local[k_1 * 16 : 16])
#         C_local[i_1 * 32] = C_local_cell.6[0 : 16]
#         C_local[(i_1 * 32) + 16] = C_local_cell.7[0 : 16]
#     for ax0.6 from 0, 384 times:
#       Y[(((i_0_j_0_fused >> 5) * 196608) + (ax0.6 * 512)) + ((i_0_j_0_fused & 31) * 16)] = C_local[ax0.6 * 16 : 16] + D[(i_0_j_0_fused & 31) * 16 : 16]
