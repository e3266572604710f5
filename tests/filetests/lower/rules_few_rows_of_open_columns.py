# test: lower
# target: avx512
# run: default rules
# Two rows by a matrix of any number of columns, in strips.

@T.prim_func
def open_columns(A: T.Buffer((2, 64), "float32"), b: T.handle, c: T.handle):
    n = T.int64()
    B = T.match_buffer(b, (64, n))
    C = T.match_buffer(c, (2, n))
    for i, j, k in T.grid(2, n, 64):
        with T.block("C"):
            vi, vj, vk = T.axis.remap("SSR", [i, j, k])
            with T.init():
                C[vi, vj] = T.float32(0)
            C[vi, vj] = C[vi, vj] + A[vi, vk] * B[vk, vj]
# expect-listing:
# func open_columns(n)
#   param 0 A: float32[2, 64]
#   param 1 b: float32[64, n]
#   param 2 c: float32[2, n] written
#
# kernel open_columns  # C_init, C_update, C_local
#   scalar size.0: int64 = (n + 127) // 128
#   scalar size.2: int64 = (n + 15) // 16
#   scalar n: int64 = n
#   array A: float32, 128 elements, global read param 0
#   array B: float32, 64 * n elements, global read param 1
#   array C: float32, 2 * n elements, global write param 2
#   array C_local: float32, 256 elements, local
#   array C_local_cell.4: float32, 16 elements, local
#   array C_local_cell.5: float32, 16 elements, local
#   cost 0 + (((2 * n) * 64) * 2) flop, (512 + ((64 * n) * 4)) + ((2 * n) * 4) bytes; accesses proved
#   parallel for j_0 from 0, size.0 times:
#     for j_1_init from 0, min((size.2 - (j_0 * 8)), 8) times:
#       C_local[j_1_init * 16] = splat16(0.0)
#       C_local[(j_1_init * 16) + 128] = splat16(0.0)
#     for k_0 from 0, 8 times:
#       for j_1 from 0, min((size.2 - (j_0 * 8)), 8) times:
#         C_local_cell.4[0] = C_local[j_1 * 16 : 16]
#         C_local_cell.5[0] = C_local[(j_1 * 16) + 128 : 16]
#         for k_1 from 0, 8 times:
#           C_local_cell.4[0] = C_local_cell.4[0 : 16] + (splat16(A[(k_0 * 8) + k_1]) * B[(((k_0 * 8) + k_1) * n) + ((j_0 * 128) + (j_1 * 16)) : 16, first (n - (j_0 * 128)) - (j_1 * 16)])
#           C_local_cell.5[0] = C_local_cell.5[0 : 16] + (splat16(A[((k_0 * 8) + k_1) + 64]) * B[(((k_0 * 8) + k_1) * n) + ((j_0 * 128) + (j_1 * 16)) : 16, first (n - (j_0 * 128)) - (j_1 * 16)])
#         C_local[j_1 * 16] = C_local_cell.4[0 : 16]
#         C_local[(j_1 * 16) + 128] = C_local_cell.5[0 : 16]
#     for ax0 from 0, 2 times:
#       for ax1_0 from 0, 8 times:
#         C[(ax0 * n) + ((j_0 * 128) + (ax1_0 * 16)) : 16, first (n - (j_0 * 128)) - (ax1_0 * 16)] = C_local[(ax0 * 128) + (ax1_0 * 16) : 16, first (n - (j_0 * 128)) - (ax1_0 * 16)]
