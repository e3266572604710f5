# test: lower
# target: cpu
# run: default rules
# Few rows by columns that lie along the sum: terms may be added in any order, which code generation does on vectors.

@T.prim_func
def product(A: T.Buffer((4, 1024), "float32"), B: T.Buffer((512, 1024), "float32"), C: T.Buffer((4, 512), "float32")):
    for i, j, k in T.grid(4, 512, 1024):
        with T.block("C"):
            vi, vj, vk = T.axis.remap("SSR", [i, j, k])
            with T.init():
                C[vi, vj] = T.float32(0)
            C[vi, vj] = C[vi, vj] + A[vi, vk] * B[vj, vk]
# expect-listing:
# func product()
#   param 0 A: float32[4, 1024]
#   param 1 B: float32[512, 1024]
#   param 2 C: float32[4, 512] written
#
# kernel product  # C_init, C_update
#   array A: float32, 4096 elements, global read param 0
#   array B: float32, 524288 elements, global read param 1
#   array C: float32, 2048 elements, global read write param 2
#   array C_cell.3: float32, 1 elements, local
#   array C_cell.4: float32, 1 elements, local
#   array C_cell.5: float32, 1 elements, local
#   array C_cell.6: float32, 1 elements, local
#   array C_cell.7: float32, 1 elements, local
#   array C_cell.8: float32, 1 elements, local
#   array C_cell.9: float32, 1 elements, local
#   array C_cell.10: float32, 1 elements, local
#   cost 4194304 flop, 2129920 bytes; accesses proved
#   parallel for i_0_j_0_fused from 0, 128 times:
#     for i_1 from 0, 2 times:
#       C[(i_1 * 1024) + (i_0_j_0_fused * 4)] = 0.0
#       C[((i_1 * 1024) + (i_0_j_0_fused * 4)) + 1] = 0.0
#       C[((i_1 * 1024) + (i_0_j_0_fused * 4)) + 2] = 0.0
#       C[((i_1 * 1024) + (i_0_j_0_fused * 4)) + 3] = 0.0
#       C[((i_1 * 1024) + (i_0_j_0_fused * 4)) + 512] = 0.0
#       C[((i_1 * 1024) + (i_0_j_0_fused * 4)) + 513] = 0.0
#       C[((i_1 * 1024) + (i_0_j_0_fused * 4)) + 514] = 0.0
#       C[((i_1 * 1024) + (i_0_j_0_fused * 4)) + 515] = 0.0
#       C_cell.3[0] = C[(i_1 * 1024) + (i_0_j_0_fused * 4)]
#       C_cell.4[0] = C[((i_1 * 1024) + (i_0_j_0_fused * 4)) + 1]
#       C_cell.5[0] = C[((i_1 * 1024) + (i_0_j_0_fused * 4)) + 2]
#       C_cell.6[0] = C[((i_1 * 1024) + (i_0_j_0_fused * 4)) + 3]
#       C_cell.7[0] = C[((i_1 * 1024) + (i_0_j_0_fused * 4)) + 512]
#       C_cell.8[0] = C[((i_1 * 1024) + (i_0_j_0_fused * 4)) + 513]
#       C_cell.9[0] = C[((i_1 * 1024) + (i_0_j_0_fused * 4)) + 514]
#       C_cell.10[0] = C[((i_1 * 1024) + (i_0_j_0_fused * 4)) + 515]
#       simd reduction for k from 0, 1024 times:
#         C_cell.3[0] = C_cell.3[0] + (A[(i_1 * 2048) + k] * B[(i_0_j_0_fused * 4096) + k])
#         C_cell.4[0] = C_cell.4[0] + (A[(i_1 * 2048) + k] * B[((i_0_j_0_fused * 4096) + k) + 1024])
#         C_cell.5[0] = C_cell.5[0] + (A[(i_1 * 2048) + k] * B[((i_0_j_0_fused * 4096) + k) + 2048])
#         C_cell.6[0] = C_cell.6[0] + (A[(i_1 * 2048) + k] * B[((i_0_j_0_fused * 4096) + k) + 3072])
#         C_cell.7[0] = C_cell.7[0] + (A[((i_1 * 2048) + k) + 1024] * B[(i_0_j_0_fused * 4096) + k])
#         C_cell.8[0] = C_cell.8[0] + (A[((i_1 * 2048) + k) + 1024] * B[((i_0_j_0_fused * 4096) + k) + 1024])
#         C_cell.9[0] = C_cell.9[0] + (A[((i_1 * 2048) + k) + 1024] * B[((i_0_j_0_fused * 4096) + k) + 2048])
#         C_cell.10[0] = C_cell.10[0] + (A[((i_1 * 2048) + k) + 1024] * B[((i_0_j_0_fused * 4096) + k) + 3072])
#       C[(i_1 * 1024) + (i_0_j_0_fused * 4)] = C_cell.3[0]
#       C[((i_1 * 1024) + (i_0_j_0_fused * 4)) + 1] = C_cell.4[0]
#       C[((i_1 * 1024) + (i_0_j_0_fused * 4)) + 2] = C_cell.5[0]
#       C[((i_1 * 1024) + (i_0_j_0_fused * 4)) + 3] = C_cell.6[0]
#       C[((i_1 * 1024) + (i_0_j_0_fused * 4)) + 512] = C_cell.7[0]
#       C[((i_1 * 1024) + (i_0_j_0_fused * 4)) + 513] = C_cell.8[0]
#       C[((i_1 * 1024) + (i_0_j_0_fused * 4)) + 514] = C_cell.9[0]
#       C[((i_1 * 1024) + (i_0_j_0_fused * 4)) + 515] = C_cell.10[0]
