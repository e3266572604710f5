# test: lower
# target: avx512
# run: default rules
# One row by a matrix, which is read once and in order, in strips of columns.

@T.prim_func
def row(A: T.Buffer((1, 100), "float32"), B: T.Buffer((100, 200), "float32"), C: T.Buffer((1, 200), "float32")):
    for i, j, k in T.grid(1, 200, 100):
        with T.block("C"):
            vi, vj, vk = T.axis.remap("SSR", [i, j, k])
            with T.init():
                C[vi, vj] = T.float32(0)
            C[vi, vj] = C[vi, vj] + A[vi, vk] * B[vk, vj]
# expect-listing:
# func row()
#   param 0 A: float32[1, 100]
#   param 1 B: float32[100, 200]
#   param 2 C: float32[1, 200] written
#
# kernel row  # C_init, C_update, C_local
#   array A: float32, 100 elements, global read param 0
#   array B: float32, 20000 elements, global read param 1
#   array C: float32, 200 elements, global write param 2
#   array C_local: float32, 64 elements, local
#   array C_local_cell: float32, 16 elements, local
#   cost 40000 flop, 81200 bytes; accesses proved
#   parallel for j_0 from 0, 4 times:
#     for j_1_init from 0, min((j_0 * -4), -9) + 13 times:
#       C_local[j_1_init * 16] = splat16(0.0)
#     for k_0 from 0, 13 times:
#       for j_1 from 0, min((j_0 * -4), -9) + 13 times:
#         if ((min((k_0 * -2), -23) * 4) + 100) > 0:
#           C_local_cell[0] = C_local[j_1 * 16 : 16]
#         for k_1 from 0, (min((k_0 * -2), -23) * 4) + 100 times:
#           C_local_cell[0] = C_local_cell[0 : 16] + (splat16(A[min(((k_0 * 8) + k_1), 99)]) * B[(((k_0 * 1600) + (k_1 * 200)) + (j_0 * 64)) + (j_1 * 16) : 16, first (200 - (j_0 * 64)) - (j_1 * 16)])
#         if ((min((k_0 * -2), -23) * 4) + 100) > 0:
#           C_local[j_1 * 16] = C_local_cell[0 : 16]
#     for ax1_0 from 0, 4 times:
#       C[(j_0 * 64) + (ax1_0 * 16) : 16, first (200 - (j_0 * 64)) - (ax1_0 * 16)] = C_local[ax1_0 * 16 : 16, first (200 - (j_0 * 64)) - (ax1_0 * 16)]
