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
#   scalar size.14: int64 = ((m % 128) + 127) // 128
#   scalar size.17: int64 = min((((m + 1) // 2) - ((m // 128) * 64)), 64)
#   scalar size.24: int64 = (m % 128) // 16
#   scalar size.26: int64 = (m % 128) // 4
#   scalar size.28: int64 = m % 128
#   array A: float32, (2 * m) * 64 elements, global read param 0
#   array B: float32, (2 * m) * 64 elements, global read param 1
#   array C: float32, (2 * m) * m elements, global write param 2
#   array C_local: float32, 2048 elements, local
#   array B_local: float32, 1024 elements, local
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
#         for ax1_1.10 from 0, min((size.5 - (ax1_0.2 * 64)), 64) times:
#           for ax3_1.11 from 0, 64 times:
#             C_local[ax1_1.10 * 32] = C_local[ax1_1.10 * 32 : 16] + (splat16(A[((ax0 * 64) * m) + ((min((((ax1_0.2 * 128) + (ax1_1.10 * 2)) + 0), (m - 1)) * 64) + ax3_1.11)]) * B_local[ax3_1.11 * 16 : 16])
#             C_local[(ax1_1.10 * 32) + 16] = C_local[(ax1_1.10 * 32) + 16 : 16] + (splat16(A[((ax0 * 64) * m) + ((min((((ax1_0.2 * 128) + (ax1_1.10 * 2)) + 1), (m - 1)) * 64) + ax3_1.11)]) * B_local[ax3_1.11 * 16 : 16])
#         for ax2.12 from 0, min((m - (ax2_0.4 * 16)), 16) times:
#           for ax1_0.13 from 0, 8 times:
#             C[(((ax0 * m) * m) + (((ax1_0.2 * 128) + (ax1_0.13 * 16)) * m)) + ((ax2_0.4 * 16) + ax2.12)] = C_local[(ax1_0.13 * 256) + ax2.12]
#             C[(((ax0 * m) * m) + ((((ax1_0.2 * 128) + (ax1_0.13 * 16)) + 1) * m)) + ((ax2_0.4 * 16) + ax2.12)] = C_local[((ax1_0.13 * 256) + ax2.12) + 16]
#             C[(((ax0 * m) * m) + ((((ax1_0.2 * 128) + (ax1_0.13 * 16)) + 2) * m)) + ((ax2_0.4 * 16) + ax2.12)] = C_local[((ax1_0.13 * 256) + ax2.12) + 32]
#             C[(((ax0 * m) * m) + ((((ax1_0.2 * 128) + (ax1_0.13 * 16)) + 3) * m)) + ((ax2_0.4 * 16) + ax2.12)] = C_local[((ax1_0.13 * 256) + ax2.12) + 48]
#             C[(((ax0 * m) * m) + ((((ax1_0.2 * 128) + (ax1_0.13 * 16)) + 4) * m)) + ((ax2_0.4 * 16) + ax2.12)] = C_local[((ax1_0.13 * 256) + ax2.12) + 64]
#             C[(((ax0 * m) * m) + ((((ax1_0.2 * 128) + (ax1_0.13 * 16)) + 5) * m)) + ((ax2_0.4 * 16) + ax2.12)] = C_local[((ax1_0.13 * 256) + ax2.12) + 80]
#             C[(((ax0 * m) * m) + ((((ax1_0.2 * 128) + (ax1_0.13 * 16)) + 6) * m)) + ((ax2_0.4 * 16) + ax2.12)] = C_local[((ax1_0.13 * 256) + ax2.12) + 96]
#             C[(((ax0 * m) * m) + ((((ax1_0.2 * 128) + (ax1_0.13 * 16)) + 7) * m)) + ((ax2_0.4 * 16) + ax2.12)] = C_local[((ax1_0.13 * 256) + ax2.12) + 112]
#             C[(((ax0 * m) * m) + ((((ax1_0.2 * 128) + (ax1_0.13 * 16)) + 8) * m)) + ((ax2_0.4 * 16) + ax2.12)] = C_local[((ax1_0.13 * 256) + ax2.12) + 128]
#             C[(((ax0 * m) * m) + ((((ax1_0.2 * 128) + (ax1_0.13 * 16)) + 9) * m)) + ((ax2_0.4 * 16) + ax2.12)] = C_local[((ax1_0.13 * 256) + ax2.12) + 144]
#             C[(((ax0 * m) * m) + ((((ax1_0.2 * 128) + (ax1_0.13 * 16)) + 10) * m)) + ((ax2_0.4 * 16) + ax2.12)] = C_local[((ax1_0.13 * 256) + ax2.12) + 160]
#             C[(((ax0 * m) * m) + ((((ax1_0.2 * 128) + (ax1_0.13 * 16)) + 11) * m)) + ((ax2_0.4 * 16) + ax2.12)] = C_local[((ax1_0.13 * 256) + ax2.12) + 176]
#             C[(((ax0 * m) * m) + ((((ax1_0.2 * 128) + (ax1_0.13 * 16)) + 12) * m)) + ((ax2_0.4 * 16) + ax2.12)] = C_local[((ax1_0.13 * 256) + ax2.12) + 192]
#             C[(((ax0 * m) * m) + ((((ax1_0.2 * 128) + (ax1_0.13 * 16)) + 13) * m)) + ((ax2_0.4 * 16) + ax2.12)] = C_local[((ax1_0.13 * 256) + ax2.12) + 208]
#             C[(((ax0 * m) * m) + ((((ax1_0.2 * 128) + (ax1_0.13 * 16)) + 14) * m)) + ((ax2_0.4 * 16) + ax2.12)] = C_local[((ax1_0.13 * 256) + ax2.12) + 224]
#             C[(((ax0 * m) * m) + ((((ax1_0.2 * 128) + (ax1_0.13 * 16)) + 15) * m)) + ((ax2_0.4 * 16) + ax2.12)] = C_local[((ax1_0.13 * 256) + ax2.12) + 240]
#     for ax1_0.15 from 0, size.14 times:
#       for ax2_0.16 from 0, size.3 times:
#         for ax1_1_init.18 from 0, size.17 times:
#           C_local[ax1_1_init.18 * 32] = splat16(0.0)
#           C_local[(ax1_1_init.18 * 32) + 16] = splat16(0.0)
#         for ax1.19 from 0, min((m - (ax2_0.16 * 16)), 16) times:
#           for ax2.20 from 0, 64 times:
#             B_local[(ax2.20 * 16) + ax1.19] = B[((ax0 * 64) * m) + ((min(((ax2_0.16 * 16) + ax1.19), (m - 1)) * 64) + ax2.20)]
#         for ax1_1.21 from 0, size.17 times:
#           for ax3_1.22 from 0, 64 times:
#             C_local[ax1_1.21 * 32] = C_local[ax1_1.21 * 32 : 16] + (splat16(A[((ax0 * 64) * m) + ((min((((size.1 * 128) + (ax1_1.21 * 2)) + 0), (m - 1)) * 64) + ax3_1.22)]) * B_local[ax3_1.22 * 16 : 16])
#             C_local[(ax1_1.21 * 32) + 16] = C_local[(ax1_1.21 * 32) + 16 : 16] + (splat16(A[((ax0 * 64) * m) + ((min((((size.1 * 128) + (ax1_1.21 * 2)) + 1), (m - 1)) * 64) + ax3_1.22)]) * B_local[ax3_1.22 * 16 : 16])
#         for ax2.23 from 0, min((m - (ax2_0.16 * 16)), 16) times:
#           for ax1_0.25 from 0, size.24 times:
#             C[(((ax0 * m) * m) + (((size.1 * 128) + (ax1_0.25 * 16)) * m)) + ((ax2_0.16 * 16) + ax2.23)] = C_local[(ax1_0.25 * 256) + ax2.23]
#             C[(((ax0 * m) * m) + ((((size.1 * 128) + (ax1_0.25 * 16)) + 1) * m)) + ((ax2_0.16 * 16) + ax2.23)] = C_local[((ax1_0.25 * 256) + ax2.23) + 16]
#             C[(((ax0 * m) * m) + ((((size.1 * 128) + (ax1_0.25 * 16)) + 2) * m)) + ((ax2_0.16 * 16) + ax2.23)] = C_local[((ax1_0.25 * 256) + ax2.23) + 32]
#             C[(((ax0 * m) * m) + ((((size.1 * 128) + (ax1_0.25 * 16)) + 3) * m)) + ((ax2_0.16 * 16) + ax2.23)] = C_local[((ax1_0.25 * 256) + ax2.23) + 48]
#             C[(((ax0 * m) * m) + ((((size.1 * 128) + (ax1_0.25 * 16)) + 4) * m)) + ((ax2_0.16 * 16) + ax2.23)] = C_local[((ax1_0.25 * 256) + ax2.23) + 64]
#             C[(((ax0 * m) * m) + ((((size.1 * 128) + (ax1_0.25 * 16)) + 5) * m)) + ((ax2_0.16 * 16) + ax2.23)] = C_local[((ax1_0.25 * 256) + ax2.23) + 80]
#             C[(((ax0 * m) * m) + ((((size.1 * 128) + (ax1_0.25 * 16)) + 6) * m)) + ((ax2_0.16 * 16) + ax2.23)] = C_local[((ax1_0.25 * 256) + ax2.23) + 96]
#             C[(((ax0 * m) * m) + ((((size.1 * 128) + (ax1_0.25 * 16)) + 7) * m)) + ((ax2_0.16 * 16) + ax2.23)] = C_local[((ax1_0.25 * 256) + ax2.23) + 112]
#             C[(((ax0 * m) * m) + ((((size.1 * 128) + (ax1_0.25 * 16)) + 8) * m)) + ((ax2_0.16 * 16) + ax2.23)] = C_local[((ax1_0.25 * 256) + ax2.23) + 128]
#             C[(((ax0 * m) * m) + ((((size.1 * 128) + (ax1_0.25 * 16)) + 9) * m)) + ((ax2_0.16 * 16) + ax2.23)] = C_local[((ax1_0.25 * 256) + ax2.23) + 144]
#             C[(((ax0 * m) * m) + ((((size.1 * 128) + (ax1_0.25 * 16)) + 10) * m)) + ((ax2_0.16 * 16) + ax2.23)] = C_local[((ax1_0.25 * 256) + ax2.23) + 160]
#             C[(((ax0 * m) * m) + ((((size.1 * 128) + (ax1_0.25 * 16)) + 11) * m)) + ((ax2_0.16 * 16) + ax2.23)] = C_local[((ax1_0.25 * 256) + ax2.23) + 176]
#             C[(((ax0 * m) * m) + ((((size.1 * 128) + (ax1_0.25 * 16)) + 12) * m)) + ((ax2_0.16 * 16) + ax2.23)] = C_local[((ax1_0.25 * 256) + ax2.23) + 192]
#             C[(((ax0 * m) * m) + ((((size.1 * 128) + (ax1_0.25 * 16)) + 13) * m)) + ((ax2_0.16 * 16) + ax2.23)] = C_local[((ax1_0.25 * 256) + ax2.23) + 208]
#             C[(((ax0 * m) * m) + ((((size.1 * 128) + (ax1_0.25 * 16)) + 14) * m)) + ((ax2_0.16 * 16) + ax2.23)] = C_local[((ax1_0.25 * 256) + ax2.23) + 224]
#             C[(((ax0 * m) * m) + ((((size.1 * 128) + (ax1_0.25 * 16)) + 15) * m)) + ((ax2_0.16 * 16) + ax2.23)] = C_local[((ax1_0.25 * 256) + ax2.23) + 240]
#           for ax1_0.27 from size.24 * 4, size.26 - (size.24 * 4) times:
#             C[(((ax0 * m) * m) + (((size.1 * 128) + (ax1_0.27 * 4)) * m)) + ((ax2_0.16 * 16) + ax2.23)] = C_local[(ax1_0.27 * 64) + ax2.23]
#             C[(((ax0 * m) * m) + ((((size.1 * 128) + (ax1_0.27 * 4)) + 1) * m)) + ((ax2_0.16 * 16) + ax2.23)] = C_local[((ax1_0.27 * 64) + ax2.23) + 16]
#             C[(((ax0 * m) * m) + ((((size.1 * 128) + (ax1_0.27 * 4)) + 2) * m)) + ((ax2_0.16 * 16) + ax2.23)] = C_local[((ax1_0.27 * 64) + ax2.23) + 32]
#             C[(((ax0 * m) * m) + ((((size.1 * 128) + (ax1_0.27 * 4)) + 3) * m)) + ((ax2_0.16 * 16) + ax2.23)] = C_local[((ax1_0.27 * 64) + ax2.23) + 48]
#           for ax1_0.29 from size.26 * 4, size.28 - (size.26 * 4) times:
#             C[(((ax0 * m) * m) + (((size.1 * 128) + ax1_0.29) * m)) + ((ax2_0.16 * 16) + ax2.23)] = C_local[(ax1_0.29 * 16) + ax2.23]
