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
#   scalar size.3: int64 = m // 16
#   scalar m: int64 = m
#   scalar size.13: int64 = ((m % 16) + 15) // 16
#   scalar size.20: int64 = m % 16
#   scalar size.25: int64 = ((m % 128) + 127) // 128
#   scalar size.34: int64 = (m % 128) // 16
#   scalar size.36: int64 = (m % 128) // 4
#   scalar size.38: int64 = m % 128
#   array A: float32, (2 * m) * 64 elements, global read param 0
#   array B: float32, (2 * m) * 64 elements, global read param 1
#   array C: float32, (2 * m) * m elements, global write param 2
#   array C_local: float32, 2048 elements, local
#   array B_local: float32, 1024 elements, local
#   cost 0 + ((((2 * m) * m) * 64) * 2) flop, ((0 + (((2 * m) * 64) * 4)) + (((2 * m) * 64) * 4)) + (((2 * m) * m) * 4) bytes; accesses proved
#   parallel for ax0 from 0, 2 times:
#     for ax1_0.2 from 0, size.1 times:
#       for ax2_0.4 from 0, size.3 times:
#         for ax1_1_init.5 from 0, 64 times:
#           C_local[ax1_1_init.5 * 32] = splat16(0.0)
#           C_local[(ax1_1_init.5 * 32) + 16] = splat16(0.0)
#         for ax1.6 from 0, 16 times:
#           for ax2.7 from 0, 64 times:
#             B_local[(ax2.7 * 16) + ax1.6] = B[((ax0 * 64) * m) + ((min(((ax2_0.4 * 16) + ax1.6), (m - 1)) * 64) + ax2.7)]
#         for ax1_1.9 from 0, 64 times:
#           for ax3_1.10 from 0, 64 times:
#             C_local[ax1_1.9 * 32] = C_local[ax1_1.9 * 32 : 16] + (splat16(A[((ax0 * 64) * m) + ((min((((ax1_0.2 * 128) + (ax1_1.9 * 2)) + 0), (m - 1)) * 64) + ax3_1.10)]) * B_local[ax3_1.10 * 16 : 16])
#             C_local[(ax1_1.9 * 32) + 16] = C_local[(ax1_1.9 * 32) + 16 : 16] + (splat16(A[((ax0 * 64) * m) + ((min((((ax1_0.2 * 128) + (ax1_1.9 * 2)) + 1), (m - 1)) * 64) + ax3_1.10)]) * B_local[ax3_1.10 * 16 : 16])
#         for ax2.11 from 0, 16 times:
#           for ax1_0.12 from 0, 8 times:
#             C[(((ax0 * m) * m) + (((ax1_0.2 * 128) + (ax1_0.12 * 16)) * m)) + ((ax2_0.4 * 16) + ax2.11)] = C_local[(ax1_0.12 * 256) + ax2.11]
#             C[(((ax0 * m) * m) + ((((ax1_0.2 * 128) + (ax1_0.12 * 16)) + 1) * m)) + ((ax2_0.4 * 16) + ax2.11)] = C_local[((ax1_0.12 * 256) + ax2.11) + 16]
#             C[(((ax0 * m) * m) + ((((ax1_0.2 * 128) + (ax1_0.12 * 16)) + 2) * m)) + ((ax2_0.4 * 16) + ax2.11)] = C_local[((ax1_0.12 * 256) + ax2.11) + 32]
#             C[(((ax0 * m) * m) + ((((ax1_0.2 * 128) + (ax1_0.12 * 16)) + 3) * m)) + ((ax2_0.4 * 16) + ax2.11)] = C_local[((ax1_0.12 * 256) + ax2.11) + 48]
#             C[(((ax0 * m) * m) + ((((ax1_0.2 * 128) + (ax1_0.12 * 16)) + 4) * m)) + ((ax2_0.4 * 16) + ax2.11)] = C_local[((ax1_0.12 * 256) + ax2.11) + 64]
#             C[(((ax0 * m) * m) + ((((ax1_0.2 * 128) + (ax1_0.12 * 16)) + 5) * m)) + ((ax2_0.4 * 16) + ax2.11)] = C_local[((ax1_0.12 * 256) + ax2.11) + 80]
#             C[(((ax0 * m) * m) + ((((ax1_0.2 * 128) + (ax1_0.12 * 16)) + 6) * m)) + ((ax2_0.4 * 16) + ax2.11)] = C_local[((ax1_0.12 * 256) + ax2.11) + 96]
#             C[(((ax0 * m) * m) + ((((ax1_0.2 * 128) + (ax1_0.12 * 16)) + 7) * m)) + ((ax2_0.4 * 16) + ax2.11)] = C_local[((ax1_0.12 * 256) + ax2.11) + 112]
#             C[(((ax0 * m) * m) + ((((ax1_0.2 * 128) + (ax1_0.12 * 16)) + 8) * m)) + ((ax2_0.4 * 16) + ax2.11)] = C_local[((ax1_0.12 * 256) + ax2.11) + 128]
#             C[(((ax0 * m) * m) + ((((ax1_0.2 * 128) + (ax1_0.12 * 16)) + 9) * m)) + ((ax2_0.4 * 16) + ax2.11)] = C_local[((ax1_0.12 * 256) + ax2.11) + 144]
#             C[(((ax0 * m) * m) + ((((ax1_0.2 * 128) + (ax1_0.12 * 16)) + 10) * m)) + ((ax2_0.4 * 16) + ax2.11)] = C_local[((ax1_0.12 * 256) + ax2.11) + 160]
#             C[(((ax0 * m) * m) + ((((ax1_0.2 * 128) + (ax1_0.12 * 16)) + 11) * m)) + ((ax2_0.4 * 16) + ax2.11)] = C_local[((ax1_0.12 * 256) + ax2.11) + 176]
#             C[(((ax0 * m) * m) + ((((ax1_0.2 * 128) + (ax1_0.12 * 16)) + 12) * m)) + ((ax2_0.4 * 16) + ax2.11)] = C_local[((ax1_0.12 * 256) + ax2.11) + 192]
#             C[(((ax0 * m) * m) + ((((ax1_0.2 * 128) + (ax1_0.12 * 16)) + 13) * m)) + ((ax2_0.4 * 16) + ax2.11)] = C_local[((ax1_0.12 * 256) + ax2.11) + 208]
#             C[(((ax0 * m) * m) + ((((ax1_0.2 * 128) + (ax1_0.12 * 16)) + 14) * m)) + ((ax2_0.4 * 16) + ax2.11)] = C_local[((ax1_0.12 * 256) + ax2.11) + 224]
#             C[(((ax0 * m) * m) + ((((ax1_0.2 * 128) + (ax1_0.12 * 16)) + 15) * m)) + ((ax2_0.4 * 16) + ax2.11)] = C_local[((ax1_0.12 * 256) + ax2.11) + 240]
#       for ax2_0.14 from 0, size.13 times:
#         for ax1_1_init.15 from 0, 64 times:
#           C_local[ax1_1_init.15 * 32] = splat16(0.0)
#           C_local[(ax1_1_init.15 * 32) + 16] = splat16(0.0)
#         for ax1.16 from 0, 16 times:
#           for ax2.17 from 0, 64 times:
#             B_local[(ax2.17 * 16) + ax1.16] = B[((ax0 * 64) * m) + ((min(((size.3 * 16) + ax1.16), (m - 1)) * 64) + ax2.17)]
#         for ax1_1.18 from 0, 64 times:
#           for ax3_1.19 from 0, 64 times:
#             C_local[ax1_1.18 * 32] = C_local[ax1_1.18 * 32 : 16] + (splat16(A[((ax0 * 64) * m) + ((min((((ax1_0.2 * 128) + (ax1_1.18 * 2)) + 0), (m - 1)) * 64) + ax3_1.19)]) * B_local[ax3_1.19 * 16 : 16])
#             C_local[(ax1_1.18 * 32) + 16] = C_local[(ax1_1.18 * 32) + 16 : 16] + (splat16(A[((ax0 * 64) * m) + ((min((((ax1_0.2 * 128) + (ax1_1.18 * 2)) + 1), (m - 1)) * 64) + ax3_1.19)]) * B_local[ax3_1.19 * 16 : 16])
#         for ax2.21 from 0, size.20 times:
#           for ax1_0.22 from 0, 8 times:
#             C[(((ax0 * m) * m) + (((ax1_0.2 * 128) + (ax1_0.22 * 16)) * m)) + ((size.3 * 16) + ax2.21)] = C_local[(ax1_0.22 * 256) + ax2.21]
#             C[(((ax0 * m) * m) + ((((ax1_0.2 * 128) + (ax1_0.22 * 16)) + 1) * m)) + ((size.3 * 16) + ax2.21)] = C_local[((ax1_0.22 * 256) + ax2.21) + 16]
#             C[(((ax0 * m) * m) + ((((ax1_0.2 * 128) + (ax1_0.22 * 16)) + 2) * m)) + ((size.3 * 16) + ax2.21)] = C_local[((ax1_0.22 * 256) + ax2.21) + 32]
#             C[(((ax0 * m) * m) + ((((ax1_0.2 * 128) + (ax1_0.22 * 16)) + 3) * m)) + ((size.3 * 16) + ax2.21)] = C_local[((ax1_0.22 * 256) + ax2.21) + 48]
#             C[(((ax0 * m) * m) + ((((ax1_0.2 * 128) + (ax1_0.22 * 16)) + 4) * m)) + ((size.3 * 16) + ax2.21)] = C_local[((ax1_0.22 * 256) + ax2.21) + 64]
#             C[(((ax0 * m) * m) + ((((ax1_0.2 * 128) + (ax1_0.22 * 16)) + 5) * m)) + ((size.3 * 16) + ax2.21)] = C_local[((ax1_0.22 * 256) + ax2.21) + 80]
#             C[(((ax0 * m) * m) + ((((ax1_0.2 * 128) + (ax1_0.22 * 16)) + 6) * m)) + ((size.3 * 16) + ax2.21)] = C_local[((ax1_0.22 * 256) + ax2.21) + 96]
#             C[(((ax0 * m) * m) + ((((ax1_0.2 * 128) + (ax1_0.22 * 16)) + 7) * m)) + ((size.3 * 16) + ax2.21)] = C_local[((ax1_0.22 * 256) + ax2.21) + 112]
#             C[(((ax0 * m) * m) + ((((ax1_0.2 * 128) + (ax1_0.22 * 16)) + 8) * m)) + ((size.3 * 16) + ax2.21)] = C_local[((ax1_0.22 * 256) + ax2.21) + 128]
#             C[(((ax0 * m) * m) + ((((ax1_0.2 * 128) + (ax1_0.22 * 16)) + 9) * m)) + ((size.3 * 16) + ax2.21)] = C_local[((ax1_0.22 * 256) + ax2.21) + 144]
#             C[(((ax0 * m) * m) + ((((ax1_0.2 * 128) + (ax1_0.22 * 16)) + 10) * m)) + ((size.3 * 16) + ax2.21)] = C_local[((ax1_0.22 * 256) + ax2.21) + 160]
#             C[(((ax0 * m) * m) + ((((ax1_0.2 * 128) + (ax1_0.22 * 16)) + 11) * m)) + ((size.3 * 16) + ax2.21)] = C_local[((ax1_0.22 * 256) + ax2.21) + 176]
#             C[(((ax0 * m) * m) + ((((ax1_0.2 * 128) + (ax1_0.22 * 16)) + 12) * m)) + ((size.3 * 16) + ax2.21)] = C_local[((ax1_0.22 * 256) + ax2.21) + 192]
#             C[(((ax0 * m) * m) + ((((ax1_0.2 * 128) + (ax1_0.22 * 16)) + 13) * m)) + ((size.3 * 16) + ax2.21)] = C_local[((ax1_0.22 * 256) + ax2.21) + 208]
#             C[(((ax0 * m) * m) + ((((ax1_0.2 * 128) + (ax1_0.22 * 16)) + 14) * m)) + ((size.3 * 16) + ax2.21)] = C_local[((ax1_0.22 * 256) + ax2.21) + 224]
#             C[(((ax0 * m) * m) + ((((ax1_0.2 * 128) + (ax1_0.22 * 16)) + 15) * m)) + ((size.3 * 16) + ax2.21)] = C_local[((ax1_0.22 * 256) + ax2.21) + 240]
#     for ax1_0.26 from 0, size.25 times:
#       for ax2_0.27 from 0, size.3 times:
#         for ax1_1_init.28 from 0, 64 times:
#           C_local[ax1_1_init.28 * 32] = splat16(0.0)
#           C_local[(ax1_1_init.28 * 32) + 16] = splat16(0.0)
#         for ax1.29 from 0, 16 times:
#           for ax2.30 from 0, 64 times:
#             B_local[(ax2.30 * 16) + ax1.29] = B[((ax0 * 64) * m) + ((min(((ax2_0.27 * 16) + ax1.29), (m - 1)) * 64) + ax2.30)]
#         for ax1_1.31 from 0, 64 times:
#           for ax3_1.32 from 0, 64 times:
#             C_local[ax1_1.31 * 32] = C_local[ax1_1.31 * 32 : 16] + (splat16(A[((ax0 * 64) * m) + ((min((((size.1 * 128) + (ax1_1.31 * 2)) + 0), (m - 1)) * 64) + ax3_1.32)]) * B_local[ax3_1.32 * 16 : 16])
#             C_local[(ax1_1.31 * 32) + 16] = C_local[(ax1_1.31 * 32) + 16 : 16] + (splat16(A[((ax0 * 64) * m) + ((min((((size.1 * 128) + (ax1_1.31 * 2)) + 1), (m - 1)) * 64) + ax3_1.32)]) * B_local[ax3_1.32 * 16 : 16])
#         for ax2.33 from 0, 16 times:
#           for ax1_0.35 from 0, size.34 times:
#             C[(((ax0 * m) * m) + (((size.1 * 128) + (ax1_0.35 * 16)) * m)) + ((ax2_0.27 * 16) + ax2.33)] = C_local[(ax1_0.35 * 256) + ax2.33]
#             C[(((ax0 * m) * m) + ((((size.1 * 128) + (ax1_0.35 * 16)) + 1) * m)) + ((ax2_0.27 * 16) + ax2.33)] = C_local[((ax1_0.35 * 256) + ax2.33) + 16]
#             C[(((ax0 * m) * m) + ((((size.1 * 128) + (ax1_0.35 * 16)) + 2) * m)) + ((ax2_0.27 * 16) + ax2.33)] = C_local[((ax1_0.35 * 256) + ax2.33) + 32]
#             C[(((ax0 * m) * m) + ((((size.1 * 128) + (ax1_0.35 * 16)) + 3) * m)) + ((ax2_0.27 * 16) + ax2.33)] = C_local[((ax1_0.35 * 256) + ax2.33) + 48]
#             C[(((ax0 * m) * m) + ((((size.1 * 128) + (ax1_0.35 * 16)) + 4) * m)) + ((ax2_0.27 * 16) + ax2.33)] = C_local[((ax1_0.35 * 256) + ax2.33) + 64]
#             C[(((ax0 * m) * m) + ((((size.1 * 128) + (ax1_0.35 * 16)) + 5) * m)) + ((ax2_0.27 * 16) + ax2.33)] = C_local[((ax1_0.35 * 256) + ax2.33) + 80]
#             C[(((ax0 * m) * m) + ((((size.1 * 128) + (ax1_0.35 * 16)) + 6) * m)) + ((ax2_0.27 * 16) + ax2.33)] = C_local[((ax1_0.35 * 256) + ax2.33) + 96]
#             C[(((ax0 * m) * m) + ((((size.1 * 128) + (ax1_0.35 * 16)) + 7) * m)) + ((ax2_0.27 * 16) + ax2.33)] = C_local[((ax1_0.35 * 256) + ax2.33) + 112]
#             C[(((ax0 * m) * m) + ((((size.1 * 128) + (ax1_0.35 * 16)) + 8) * m)) + ((ax2_0.27 * 16) + ax2.33)] = C_local[((ax1_0.35 * 256) + ax2.33) + 128]
#             C[(((ax0 * m) * m) + ((((size.1 * 128) + (ax1_0.35 * 16)) + 9) * m)) + ((ax2_0.27 * 16) + ax2.33)] = C_local[((ax1_0.35 * 256) + ax2.33) + 144]
#             C[(((ax0 * m) * m) + ((((size.1 * 128) + (ax1_0.35 * 16)) + 10) * m)) + ((ax2_0.27 * 16) + ax2.33)] = C_local[((ax1_0.35 * 256) + ax2.33) + 160]
#             C[(((ax0 * m) * m) + ((((size.1 * 128) + (ax1_0.35 * 16)) + 11) * m)) + ((ax2_0.27 * 16) + ax2.33)] = C_local[((ax1_0.35 * 256) + ax2.33) + 176]
#             C[(((ax0 * m) * m) + ((((size.1 * 128) + (ax1_0.35 * 16)) + 12) * m)) + ((ax2_0.27 * 16) + ax2.33)] = C_local[((ax1_0.35 * 256) + ax2.33) + 192]
#             C[(((ax0 * m) * m) + ((((size.1 * 128) + (ax1_0.35 * 16)) + 13) * m)) + ((ax2_0.27 * 16) + ax2.33)] = C_local[((ax1_0.35 * 256) + ax2.33) + 208]
#             C[(((ax0 * m) * m) + ((((size.1 * 128) + (ax1_0.35 * 16)) + 14) * m)) + ((ax2_0.27 * 16) + ax2.33)] = C_local[((ax1_0.35 * 256) + ax2.33) + 224]
#             C[(((ax0 * m) * m) + ((((size.1 * 128) + (ax1_0.35 * 16)) + 15) * m)) + ((ax2_0.27 * 16) + ax2.33)] = C_local[((ax1_0.35 * 256) + ax2.33) + 240]
#           for ax1_0.37 from size.34 * 4, size.36 - (size.34 * 4) times:
#             C[(((ax0 * m) * m) + (((size.1 * 128) + (ax1_0.37 * 4)) * m)) + ((ax2_0.27 * 16) + ax2.33)] = C_local[(ax1_0.37 * 64) + ax2.33]
#             C[(((ax0 * m) * m) + ((((size.1 * 128) + (ax1_0.37 * 4)) + 1) * m)) + ((ax2_0.27 * 16) + ax2.33)] = C_local[((ax1_0.37 * 64) + ax2.33) + 16]
#             C[(((ax0 * m) * m) + ((((size.1 * 128) + (ax1_0.37 * 4)) + 2) * m)) + ((ax2_0.27 * 16) + ax2.33)] = C_local[((ax1_0.37 * 64) + ax2.33) + 32]
#             C[(((ax0 * m) * m) + ((((size.1 * 128) + (ax1_0.37 * 4)) + 3) * m)) + ((ax2_0.27 * 16) + ax2.33)] = C_local[((ax1_0.37 * 64) + ax2.33) + 48]
#           for ax1_0.39 from size.36 * 4, size.38 - (size.36 * 4) times:
#             C[(((ax0 * m) * m) + (((size.1 * 128) + ax1_0.39) * m)) + ((ax2_0.27 * 16) + ax2.33)] = C_local[(ax1_0.39 * 16) + ax2.33]
#       for ax2_0.40 from 0, size.13 times:
#         for ax1_1_init.41 from 0, 64 times:
#           C_local[ax1_1_init.41 * 32] = splat16(0.0)
#           C_local[(ax1_1_init.41 * 32) + 16] = splat16(0.0)
#         for ax1.42 from 0, 16 times:
#           for ax2.43 from 0, 64 times:
#             B_local[(ax2.43 * 16) + ax1.42] = B[((ax0 * 64) * m) + ((min(((size.3 * 16) + ax1.42), (m - 1)) * 64) + ax2.43)]
#         for ax1_1.44 from 0, 64 times:
#           for ax3_1.45 from 0, 64 times:
#             C_local[ax1_1.44 * 32] = C_local[ax1_1.44 * 32 : 16] + (splat16(A[((ax0 * 64) * m) + ((min((((size.1 * 128) + (ax1_1.44 * 2)) + 0), (m - 1)) * 64) + ax3_1.45)]) * B_local[ax3_1.45 * 16 : 16])
#             C_local[(ax1_1.44 * 32) + 16] = C_local[(ax1_1.44 * 32) + 16 : 16] + (splat16(A[((ax0 * 64) * m) + ((min((((size.1 * 128) + (ax1_1.44 * 2)) + 1), (m - 1)) * 64) + ax3_1.45)]) * B_local[ax3_1.45 * 16 : 16])
#         for ax2.46 from 0, size.20 times:
#           for ax1_0.47 from 0, size.34 times:
#             C[(((ax0 * m) * m) + (((size.1 * 128) + (ax1_0.47 * 16)) * m)) + ((size.3 * 16) + ax2.46)] = C_local[(ax1_0.47 * 256) + ax2.46]
#             C[(((ax0 * m) * m) + ((((size.1 * 128) + (ax1_0.47 * 16)) + 1) * m)) + ((size.3 * 16) + ax2.46)] = C_local[((ax1_0.47 * 256) + ax2.46) + 16]
#             C[(((ax0 * m) * m) + ((((size.1 * 128) + (ax1_0.47 * 16)) + 2) * m)) + ((size.3 * 16) + ax2.46)] = C_local[((ax1_0.47 * 256) + ax2.46) + 32]
#             C[(((ax0 * m) * m) + ((((size.1 * 128) + (ax1_0.47 * 16)) + 3) * m)) + ((size.3 * 16) + ax2.46)] = C_local[((ax1_0.47 * 256) + ax2.46) + 48]
#             C[(((ax0 * m) * m) + ((((size.1 * 128) + (ax1_0.47 * 16)) + 4) * m)) + ((size.3 * 16) + ax2.46)] = C_local[((ax1_0.47 * 256) + ax2.46) + 64]
#             C[(((ax0 * m) * m) + ((((size.1 * 128) + (ax1_0.47 * 16)) + 5) * m)) + ((size.3 * 16) + ax2.46)] = C_local[((ax1_0.47 * 256) + ax2.46) + 80]
#             C[(((ax0 * m) * m) + ((((size.1 * 128) + (ax1_0.47 * 16)) + 6) * m)) + ((size.3 * 16) + ax2.46)] = C_local[((ax1_0.47 * 256) + ax2.46) + 96]
#             C[(((ax0 * m) * m) + ((((size.1 * 128) + (ax1_0.47 * 16)) + 7) * m)) + ((size.3 * 16) + ax2.46)] = C_local[((ax1_0.47 * 256) + ax2.46) + 112]
#             C[(((ax0 * m) * m) + ((((size.1 * 128) + (ax1_0.47 * 16)) + 8) * m)) + ((size.3 * 16) + ax2.46)] = C_local[((ax1_0.47 * 256) + ax2.46) + 128]
#             C[(((ax0 * m) * m) + ((((size.1 * 128) + (ax1_0.47 * 16)) + 9) * m)) + ((size.3 * 16) + ax2.46)] = C_local[((ax1_0.47 * 256) + ax2.46) + 144]
#             C[(((ax0 * m) * m) + ((((size.1 * 128) + (ax1_0.47 * 16)) + 10) * m)) + ((size.3 * 16) + ax2.46)] = C_local[((ax1_0.47 * 256) + ax2.46) + 160]
#             C[(((ax0 * m) * m) + ((((size.1 * 128) + (ax1_0.47 * 16)) + 11) * m)) + ((size.3 * 16) + ax2.46)] = C_local[((ax1_0.47 * 256) + ax2.46) + 176]
#             C[(((ax0 * m) * m) + ((((size.1 * 128) + (ax1_0.47 * 16)) + 12) * m)) + ((size.3 * 16) + ax2.46)] = C_local[((ax1_0.47 * 256) + ax2.46) + 192]
#             C[(((ax0 * m) * m) + ((((size.1 * 128) + (ax1_0.47 * 16)) + 13) * m)) + ((size.3 * 16) + ax2.46)] = C_local[((ax1_0.47 * 256) + ax2.46) + 208]
#             C[(((ax0 * m) * m) + ((((size.1 * 128) + (ax1_0.47 * 16)) + 14) * m)) + ((size.3 * 16) + ax2.46)] = C_local[((ax1_0.47 * 256) + ax2.46) + 224]
#             C[(((ax0 * m) * m) + ((((size.1 * 128) + (ax1_0.47 * 16)) + 15) * m)) + ((size.3 * 16) + ax2.46)] = C_local[((ax1_0.47 * 256) + ax2.46) + 240]
#           for ax1_0.48 from size.34 * 4, size.36 - (size.34 * 4) times:
#             C[(((ax0 * m) * m) + (((size.1 * 128) + (ax1_0.48 * 4)) * m)) + ((size.3 * 16) + ax2.46)] = C_local[(ax1_0.48 * 64) + ax2.46]
#             C[(((ax0 * m) * m) + ((((size.1 * 128) + (ax1_0.48 * 4)) + 1) * m)) + ((size.3 * 16) + ax2.46)] = C_local[((ax1_0.48 * 64) + ax2.46) + 16]
#             C[(((ax0 * m) * m) + ((((size.1 * 128) + (ax1_0.48 * 4)) + 2) * m)) + ((size.3 * 16) + ax2.46)] = C_local[((ax1_0.48 * 64) + ax2.46) + 32]
#             C[(((ax0 * m) * m) + ((((size.1 * 128) + (ax1_0.48 * 4)) + 3) * m)) + ((size.3 * 16) + ax2.46)] = C_local[((ax1_0.48 * 64) + ax2.46) + 48]
#           for ax1_0.49 from size.36 * 4, size.38 - (size.36 * 4) times:
#             C[(((ax0 * m) * m) + (((size.1 * 128) + ax1_0.49) * m)) + ((size.3 * 16) + ax2.46)] = C_local[(ax1_0.49 * 16) + ax2.46]
