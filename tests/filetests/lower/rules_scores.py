# test: lower
# target: cpu
# run: default rules
# Sums of 64 products along the rows of both operands: the panels of `B` are transposed.

@T.prim_func
def scores(a: T.handle, b: T.handle, c: T.handle):
    m = T.int64()
    A = T.match_buffer(a, (2, m, 64), "float32")
    B = T.match_buffer(b, (2, m, 64), "float32")
    C = T.match_buffer(c, (2, m, m), "float32")
    for h, i, j, r in T.grid(2, m, m, 64):
        with T.block("C"):
            vh, vi, vj, vk = T.axis.remap("SSSR", [h, i, j, r])
            with T.init():
                C[vh, vi, vj] = T.float32(0)
            C[vh, vi, vj] = C[vh, vi, vj] + A[vh, vi, vk] * B[vh, vj, vk]
# expect-listing:
# func scores(m)
#   param 0 a: float32[2, m, 64]
#   param 1 b: float32[2, m, 64]
#   param 2 c: float32[2, m, m] written
#
# kernel scores  # C_init, B_local, C_update, C_local
#   scalar size.1: int64 = m // 128
#   scalar size.3: int64 = (m + 15) // 16
#   scalar size.5: int64 = (m + 1) // 2
#   scalar m: int64 = m
#   scalar size.11: int64 = m // 2
#   scalar size.18: int64 = ((m % 128) + 127) // 128
#   scalar size.21: int64 = min((((m + 1) // 2) - ((m // 128) * 64)), 64)
#   scalar size.25: int64 = max(min((m - ((m // 128) * 128)), 128), 0) % 2
#   scalar size.27: int64 = max(min(((m // 2) - ((m // 128) * 64)), 63), 0)
#   scalar size.29: int64 = min(((m // 2) - ((m // 128) * 64)), 64)
#   scalar size.34: int64 = (m % 128) // 16
#   scalar size.36: int64 = (m % 128) // 4
#   scalar size.38: int64 = m % 128
#   array A: float32, (2 * m) * 64 elements, global read param 0
#   array B: float32, (2 * m) * 64 elements, global read param 1
#   array C: float32, (2 * m) * m elements, global write param 2
#   array C_local: float32, 2048 elements, local
#   array B_local: float32, 1024 elements, local
#   array C_local_cell.5: float32, 16 elements, local
#   array C_local_cell.6: float32, 16 elements, local
#   array C_local_cell.7: float32, 16 elements, local
#   array C_local_cell.8: float32, 16 elements, local
#   array C_local_cell.9: float32, 16 elements, local
#   array C_local_cell.10: float32, 16 elements, local
#   cost 0 + ((((2 * m) * m) * 64) * 2) flop, ((0 + (((2 * m) * 64) * 4)) + (((2 * m) * 64) * 4)) + (((2 * m) * m) * 4) bytes; accesses proved
#   parallel for ax0 from 0, 2 times:
#     for ax1_0.2 from 0, size.1 times:
#       for ax2_0.4 from 0, size.3 times:
#         for ax1_1_init.6 from 0, min((size.5 - (ax1_0.2 * 64)), 64) times:
#           C_local[ax1_1_init.6 * 32] = splat16(0.0)
#           C_local[(ax1_1_init.6 * 32) + 16] = splat16(0.0)
#         for ax1.8 from 0, min((m - (ax2_0.4 * 16)), 16) times:
#           for ax2.9 from 0, 64 times:
#             B_local[(ax2.9 * 16) + ax1.8] = B[((ax0 * 64) * m) + ((min(((ax2_0.4 * 16) + ax1.8), (m - 1)) * 64) + ax2.9)]
#         let rest.10 = max(min((m - (ax1_0.2 * 128)), 128), 0) & 1
#         let ax1_1.12 = max(min((size.11 - (ax1_0.2 * 64)), 63), 0)
#         for ax1_1.13 from 0, min((size.11 - (ax1_0.2 * 64)), 64) times:
#           C_local_cell.5[0] = C_local[ax1_1.13 * 32 : 16]
#           C_local_cell.6[0] = C_local[(ax1_1.13 * 32) + 16 : 16]
#           for ax3_1.14 from 0, 64 times:
#             C_local_cell.5[0] = C_local_cell.5[0 : 16] + (splat16(A[((ax0 * 64) * m) + (((ax1_0.2 * 8192) + (ax1_1.13 * 128)) + ax3_1.14)]) * B_local[ax3_1.14 * 16 : 16])
#             C_local_cell.6[0] = C_local_cell.6[0 : 16] + (splat16(A[((ax0 * 64) * m) + ((((ax1_0.2 * 8192) + (ax1_1.13 * 128)) + ax3_1.14) + 64)]) * B_local[ax3_1.14 * 16 : 16])
#           C_local[ax1_1.13 * 32] = C_local_cell.5[0 : 16]
#           C_local[(ax1_1.13 * 32) + 16] = C_local_cell.6[0 : 16]
#         if rest.10 == 1:
#           C_local_cell.7[0] = C_local[ax1_1.12 * 32 : 16]
#           for ax3_1.15 from 0, 64 times:
#             C_local_cell.7[0] = C_local_cell.7[0 : 16] + (splat16(A[((ax0 * 64) * m) + ((min(((ax1_0.2 * 128) + (ax1_1.12 * 2)), (m - 1)) * 64) + ax3_1.15)]) * B_local[ax3_1.15 * 16 : 16])
#           C_local[ax1_1.12 * 32] = C_local_cell.7[0 : 16]
#         for ax2.16 from 0, min((m - (ax2_0.4 * 16)), 16) times:
#           for ax1_0.17 from 0, 8 times:
#             C[(((ax0 * m) * m) + (((ax1_0.2 * 128) + (ax1_0.17 * 16)) * m)) + ((ax2_0.4 * 16) + ax2.16)] = C_local[(ax1_0.17 * 256) + ax2.16]
#             C[(((ax0 * m) * m) + ((((ax1_0.2 * 128) + (ax1_0.17 * 16)) + 1) * m)) + ((ax2_0.4 * 16) + ax2.16)] = C_local[((ax1_0.17 * 256) + ax2.16) + 16]
#             C[(((ax0 * m) * m) + ((((ax1_0.2 * 128) + (ax1_0.17 * 16)) + 2) * m)) + ((ax2_0.4 * 16) + ax2.16)] = C_local[((ax1_0.17 * 256) + ax2.16) + 32]
#             C[(((ax0 * m) * m) + ((((ax1_0.2 * 128) + (ax1_0.17 * 16)) + 3) * m)) + ((ax2_0.4 * 16) + ax2.16)] = C_local[((ax1_0.17 * 256) + ax2.16) + 48]
#             C[(((ax0 * m) * m) + ((((ax1_0.2 * 128) + (ax1_0.17 * 16)) + 4) * m)) + ((ax2_0.4 * 16) + ax2.16)] = C_local[((ax1_0.17 * 256) + ax2.16) + 64]
#             C[(((ax0 * m) * m) + ((((ax1_0.2 * 128) + (ax1_0.17 * 16)) + 5) * m)) + ((ax2_0.4 * 16) + ax2.16)] = C_local[((ax1_0.17 * 256) + ax2.16) + 80]
#             C[(((ax0 * m) * m) + ((((ax1_0.2 * 128) + (ax1_0.17 * 16)) + 6) * m)) + ((ax2_0.4 * 16) + ax2.16)] = C_local[((ax1_0.17 * 256) + ax2.16) + 96]
#             C[(((ax0 * m) * m) + ((((ax1_0.2 * 128) + (ax1_0.17 * 16)) + 7) * m)) + ((ax2_0.4 * 16) + ax2.16)] = C_local[((ax1_0.17 * 256) + ax2.16) + 112]
#             C[(((ax0 * m) * m) + ((((ax1_0.2 * 128) + (ax1_0.17 * 16)) + 8) * m)) + ((ax2_0.4 * 16) + ax2.16)] = C_local[((ax1_0.17 * 256) + ax2.16) + 128]
#             C[(((ax0 * m) * m) + ((((ax1_0.2 * 128) + (ax1_0.17 * 16)) + 9) * m)) + ((ax2_0.4 * 16) + ax2.16)] = C_local[((ax1_0.17 * 256) + ax2.16) + 144]
#             C[(((ax0 * m) * m) + ((((ax1_0.2 * 128) + (ax1_0.17 * 16)) + 10) * m)) + ((ax2_0.4 * 16) + ax2.16)] = C_local[((ax1_0.17 * 256) + ax2.16) + 160]
#             C[(((ax0 * m) * m) + ((((ax1_0.2 * 128) + (ax1_0.17 * 16)) + 11) * m)) + ((ax2_0.4 * 16) + ax2.16)] = C_local[((ax1_0.17 * 256) + ax2.16) + 176]
#             C[(((ax0 * m) * m) + ((((ax1_0.2 * 128) + (ax1_0.17 * 16)) + 12) * m)) + ((ax2_0.4 * 16) + ax2.16)] = C_local[((ax1_0.17 * 256) + ax2.16) + 192]
#             C[(((ax0 * m) * m) + ((((ax1_0.2 * 128) + (ax1_0.17 * 16)) + 13) * m)) + ((ax2_0.4 * 16) + ax2.16)] = C_local[((ax1_0.17 * 256) + ax2.16) + 208]
#             C[(((ax0 * m) * m) + ((((ax1_0.2 * 128) + (ax1_0.17 * 16)) + 14) * m)) + ((ax2_0.4 * 16) + ax2.16)] = C_local[((ax1_0.17 * 256) + ax2.16) + 224]
#             C[(((ax0 * m) * m) + ((((ax1_0.2 * 128) + (ax1_0.17 * 16)) + 15) * m)) + ((ax2_0.4 * 16) + ax2.16)] = C_local[((ax1_0.17 * 256) + ax2.16) + 240]
#     for ax1_0.19 from 0, size.18 times:
#       for ax2_0.20 from 0, size.3 times:
#         for ax1_1_init.22 from 0, size.21 times:
#           C_local[ax1_1_init.22 * 32] = splat16(0.0)
#           C_local[(ax1_1_init.22 * 32) + 16] = splat16(0.0)
#         for ax1.23 from 0, min((m - (ax2_0.20 * 16)), 16) times:
#           for ax2.24 from 0, 64 times:
#             B_local[(ax2.24 * 16) + ax1.23] = B[((ax0 * 64) * m) + ((min(((ax2_0.20 * 16) + ax1.23), (m - 1)) * 64) + ax2.24)]
#         let rest.26 = size.25
#         let ax1_1.28 = size.27
#         for ax1_1.30 from 0, size.29 times:
#           C_local_cell.8[0] = C_local[ax1_1.30 * 32 : 16]
#           C_local_cell.9[0] = C_local[(ax1_1.30 * 32) + 16 : 16]
#           for ax3_1.31 from 0, 64 times:
#             C_local_cell.8[0] = C_local_cell.8[0 : 16] + (splat16(A[((ax0 * 64) * m) + (((size.1 * 8192) + (ax1_1.30 * 128)) + ax3_1.31)]) * B_local[ax3_1.31 * 16 : 16])
#             C_local_cell.9[0] = C_local_cell.9[0 : 16] + (splat16(A[((ax0 * 64) * m) + ((((size.1 * 8192) + (ax1_1.30 * 128)) + ax3_1.31) + 64)]) * B_local[ax3_1.31 * 16 : 16])
#           C_local[ax1_1.30 * 32] = C_local_cell.8[0 : 16]
#           C_local[(ax1_1.30 * 32) + 16] = C_local_cell.9[0 : 16]
#         if rest.26 == 1:
#           C_local_cell.10[0] = C_local[ax1_1.28 * 32 : 16]
#           for ax3_1.32 from 0, 64 times:
#             C_local_cell.10[0] = C_local_cell.10[0 : 16] + (splat16(A[((ax0 * 64) * m) + ((min(((size.1 * 128) + (ax1_1.28 * 2)), (m - 1)) * 64) + ax3_1.32)]) * B_local[ax3_1.32 * 16 : 16])
#           C_local[ax1_1.28 * 32] = C_local_cell.10[0 : 16]
#         for ax2.33 from 0, min((m - (ax2_0.20 * 16)), 16) times:
#           for ax1_0.35 from 0, size.34 times:
#             C[(((ax0 * m) * m) + (((size.1 * 128) + (ax1_0.35 * 16)) * m)) + ((ax2_0.20 * 16) + ax2.33)] = C_local[(ax1_0.35 * 256) + ax2.33]
#             C[(((ax0 * m) * m) + ((((size.1 * 128) + (ax1_0.35 * 16)) + 1) * m)) + ((ax2_0.20 * 16) + ax2.33)] = C_local[((ax1_0.35 * 256) + ax2.33) + 16]
#             C[(((ax0 * m) * m) + ((((size.1 * 128) + (ax1_0.35 * 16)) + 2) * m)) + ((ax2_0.20 * 16) + ax2.33)] = C_local[((ax1_0.35 * 256) + ax2.33) + 32]
#             C[(((ax0 * m) * m) + ((((size.1 * 128) + (ax1_0.35 * 16)) + 3) * m)) + ((ax2_0.20 * 16) + ax2.33)] = C_local[((ax1_0.35 * 256) + ax2.33) + 48]
#             C[(((ax0 * m) * m) + ((((size.1 * 128) + (ax1_0.35 * 16)) + 4) * m)) + ((ax2_0.20 * 16) + ax2.33)] = C_local[((ax1_0.35 * 256) + ax2.33) + 64]
#             C[(((ax0 * m) * m) + ((((size.1 * 128) + (ax1_0.35 * 16)) + 5) * m)) + ((ax2_0.20 * 16) + ax2.33)] = C_local[((ax1_0.35 * 256) + ax2.33) + 80]
#             C[(((ax0 * m) * m) + ((((size.1 * 128) + (ax1_0.35 * 16)) + 6) * m)) + ((ax2_0.20 * 16) + ax2.33)] = C_local[((ax1_0.35 * 256) + ax2.33) + 96]
#             C[(((ax0 * m) * m) + ((((size.1 * 128) + (ax1_0.35 * 16)) + 7) * m)) + ((ax2_0.20 * 16) + ax2.33)] = C_local[((ax1_0.35 * 256) + ax2.33) + 112]
#             C[(((ax0 * m) * m) + ((((size.1 * 128) + (ax1_0.35 * 16)) + 8) * m)) + ((ax2_0.20 * 16) + ax2.33)] = C_local[((ax1_0.35 * 256) + ax2.33) + 128]
#             C[(((ax0 * m) * m) + ((((size.1 * 128) + (ax1_0.35 * 16)) + 9) * m)) + ((ax2_0.20 * 16) + ax2.33)] = C_local[((ax1_0.35 * 256) + ax2.33) + 144]
#             C[(((ax0 * m) * m) + ((((size.1 * 128) + (ax1_0.35 * 16)) + 10) * m)) + ((ax2_0.20 * 16) + ax2.33)] = C_local[((ax1_0.35 * 256) + ax2.33) + 160]
#             C[(((ax0 * m) * m) + ((((size.1 * 128) + (ax1_0.35 * 16)) + 11) * m)) + ((ax2_0.20 * 16) + ax2.33)] = C_local[((ax1_0.35 * 256) + ax2.33) + 176]
#             C[(((ax0 * m) * m) + ((((size.1 * 128) + (ax1_0.35 * 16)) + 12) * m)) + ((ax2_0.20 * 16) + ax2.33)] = C_local[((ax1_0.35 * 256) + ax2.33) + 192]
#             C[(((ax0 * m) * m) + ((((size.1 * 128) + (ax1_0.35 * 16)) + 13) * m)) + ((ax2_0.20 * 16) + ax2.33)] = C_local[((ax1_0.35 * 256) + ax2.33) + 208]
#             C[(((ax0 * m) * m) + ((((size.1 * 128) + (ax1_0.35 * 16)) + 14) * m)) + ((ax2_0.20 * 16) + ax2.33)] = C_local[((ax1_0.35 * 256) + ax2.33) + 224]
#             C[(((ax0 * m) * m) + ((((size.1 * 128) + (ax1_0.35 * 16)) + 15) * m)) + ((ax2_0.20 * 16) + ax2.33)] = C_local[((ax1_0.35 * 256) + ax2.33) + 240]
#           for ax1_0.37 from size.34 * 4, size.36 - (size.34 * 4) times:
#             C[(((ax0 * m) * m) + (((size.1 * 128) + (ax1_0.37 * 4)) * m)) + ((ax2_0.20 * 16) + ax2.33)] = C_local[(ax1_0.37 * 64) + ax2.33]
#             C[(((ax0 * m) * m) + ((((size.1 * 128) + (ax1_0.37 * 4)) + 1) * m)) + ((ax2_0.20 * 16) + ax2.33)] = C_local[((ax1_0.37 * 64) + ax2.33) + 16]
#             C[(((ax0 * m) * m) + ((((size.1 * 128) + (ax1_0.37 * 4)) + 2) * m)) + ((ax2_0.20 * 16) + ax2.33)] = C_local[((ax1_0.37 * 64) + ax2.33) + 32]
#             C[(((ax0 * m) * m) + ((((size.1 * 128) + (ax1_0.37 * 4)) + 3) * m)) + ((ax2_0.20 * 16) + ax2.33)] = C_local[((ax1_0.37 * 64) + ax2.33) + 48]
#           for ax1_0.39 from size.36 * 4, size.38 - (size.36 * 4) times:
#             C[(((ax0 * m) * m) + (((size.1 * 128) + ax1_0.39) * m)) + ((ax2_0.20 * 16) + ax2.33)] = C_local[(ax1_0.39 * 16) + ax2.33]
