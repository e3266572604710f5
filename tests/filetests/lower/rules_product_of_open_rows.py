# test: lower
# target: avx512
# run: default rules
# Rows of two open extents: the epilogue is a kernel of its own, since its loops could not be spread with those of the sums.

@T.prim_func
def linear(a: T.handle, W: T.Buffer((8, 16), "float32"), B: T.Buffer((16,), "float32"), y: T.handle):
    n, m = T.int64(), T.int64()
    X = T.match_buffer(a, (n, m, 8), "float32")
    Y = T.match_buffer(y, (n, m, 16), "float32")
    C = T.alloc_buffer((n, m, 16), "float32")
    for i, j, o, k in T.grid(n, m, 16, 8):
        with T.block("C"):
            vi, vj, vo, vk = T.axis.remap("SSSR", [i, j, o, k])
            with T.init():
                C[vi, vj, vo] = T.float32(0)
            C[vi, vj, vo] = C[vi, vj, vo] + X[vi, vj, vk] * W[vk, vo]
    for i, j, o in T.grid(n, m, 16):
        with T.block("Y"):
            vi, vj, vo = T.axis.remap("SSS", [i, j, o])
            Y[vi, vj, vo] = T.max(C[vi, vj, vo] + B[vo], T.float32(0))
# expect-listing:
# func linear(n, m)
#   param 0 a: float32[n, m, 8]
#   param 1 W: float32[8, 16]
#   param 2 B: float32[16]
#   param 3 y: float32[n, m, 16] written
#
# kernel linear  # C_init, W_local, C_update, C_local
#   scalar size.0: int64 = ((n * m) + 127) // 128
#   scalar size.2: int64 = ((n * m) + 7) // 8
#   scalar n: int64 = n
#   scalar m: int64 = m
#   scalar size.8: int64 = (n * m) // 8
#   array X: float32, (n * m) * 8 elements, global read param 0
#   array W: float32, 128 elements, global read param 1
#   array B: float32, 16 elements, global read param 2
#   array Y: float32, (n * m) * 16 elements, global write param 3
#   array C_local: float32, 2048 elements, local
#   array W_local: float32, 128 elements, local
#   array C_local_cell.6: float32, 16 elements, local
#   array C_local_cell.7: float32, 16 elements, local
#   array C_local_cell.8: float32, 16 elements, local
#   array C_local_cell.9: float32, 16 elements, local
#   array C_local_cell.10: float32, 16 elements, local
#   array C_local_cell.11: float32, 16 elements, local
#   array C_local_cell.12: float32, 16 elements, local
#   array C_local_cell.13: float32, 16 elements, local
#   array C_local_cell.14: float32, 16 elements, local
#   array C_local_cell.15: float32, 16 elements, local
#   array C_local_cell.16: float32, 16 elements, local
#   array C_local_cell.17: float32, 16 elements, local
#   array C_local_cell.18: float32, 16 elements, local
#   array C_local_cell.19: float32, 16 elements, local
#   array C_local_cell.20: float32, 16 elements, local
#   array C_local_cell.21: float32, 16 elements, local
#   array C_local_cell.22: float32, 16 elements, local
#   array C_local_cell.23: float32, 16 elements, local
#   array C_local_cell.24: float32, 16 elements, local
#   array C_local_cell.25: float32, 16 elements, local
#   array C_local_cell.26: float32, 16 elements, local
#   array C_local_cell.27: float32, 16 elements, local
#   array C_local_cell.28: float32, 16 elements, local
#   array C_local_cell.29: float32, 16 elements, local
#   array C_local_cell.30: float32, 16 elements, local
#   array C_local_cell.31: float32, 16 elements, local
#   array C_local_cell.32: float32, 16 elements, local
#   cost 0 + (((((n * m) * 16) * 8) * 2) + (((n * m) * 16) * 2)) flop, (((0 + (((n * m) * 8) * 4)) + 512) + 64) + (((n * m) * 16) * 4) bytes; accesses proved
#   for ax0_0 from 0, size.0 times:
#     for ax0_1_init from 0, min((size.2 - (ax0_0 * 16)), 16) times:
#       C_local[ax0_1_init * 128] = splat16(0.0)
#       C_local[(ax0_1_init * 128) + 16] = splat16(0.0)
#       C_local[(ax0_1_init * 128) + 32] = splat16(0.0)
#       C_local[(ax0_1_init * 128) + 48] = splat16(0.0)
#       C_local[(ax0_1_init * 128) + 64] = splat16(0.0)
#       C_local[(ax0_1_init * 128) + 80] = splat16(0.0)
#       C_local[(ax0_1_init * 128) + 96] = splat16(0.0)
#       C_local[(ax0_1_init * 128) + 112] = splat16(0.0)
#     for ax0.4 from 0, 8 times:
#       W_local[ax0.4 * 16] = W[ax0.4 * 16 : 16]
#     let rest = select(((max(min(((n * m) - (ax0_0 * 128)), 128), 0) & 7) == 1) and (2 <= min(((n * m) - (ax0_0 * 128)), 128)), 9, max(min(((n * m) - (ax0_0 * 128)), 128), 0) & 7)
#     let ax0_1.9 = max((min((size.8 - (ax0_0 * 16)), 15) - (rest / 9)), 0)
#     for ax0_1.10 from 0, min((size.8 - (ax0_0 * 16)), 16) - (rest / 9) times:
#       C_local_cell.6[0] = C_local[ax0_1.10 * 128 : 16]
#       C_local_cell.7[0] = C_local[(ax0_1.10 * 128) + 16 : 16]
#       C_local_cell.8[0] = C_local[(ax0_1.10 * 128) + 32 : 16]
#       C_local_cell.9[0] = C_local[(ax0_1.10 * 128) + 48 : 16]
#       C_local_cell.10[0] = C_local[(ax0_1.10 * 128) + 64 : 16]
#       C_local_cell.11[0] = C_local[(ax0_1.10 * 128) + 80 : 16]
#       C_local_cell.12[0] = C_local[(ax0_1.10 * 128) + 96 : 16]
#       C_local_cell.13[0] = C_local[(ax0_1.10 * 128) + 112 : 16]
#       for ax2_1.11 from 0, 8 times:
#         C_local_cell.6[0] = C_local_cell.6[0 : 16] + (splat16(X[(ax2_1.11 + (ax0_0 * 1024)) + (ax0_1.10 * 64)]) * W_local[ax2_1.11 * 16 : 16])
#         C_local_cell.7[0] = C_local_cell.7[0 : 16] + (splat16(X[((ax2_1.11 + (ax0_0 * 1024)) + (ax0_1.10 * 64)) + 8]) * W_local[ax2_1.11 * 16 : 16])
#         C_local_cell.8[0] = C_local_cell.8[0 : 16] + (splat16(X[((ax2_1.11 + (ax0_0 * 1024)) + (ax0_1.10 * 64)) + 16]) * W_local[ax2_1.11 * 16 : 16])
#         C_local_cell.9[0] = C_local_cell.9[0 : 16] + (splat16(X[((ax2_1.11 + (ax0_0 * 1024)) + (ax0_1.10 * 64)) + 24]) * W_local[ax2_1.11 * 16 : 16])
#         C_local_cell.10[0] = C_local_cell.10[0 : 16] + (splat16(X[((ax2_1.11 + (ax0_0 * 1024)) + (ax0_1.10 * 64)) + 32]) * W_local[ax2_1.11 * 16 : 16])
#         C_local_cell.11[0] = C_local_cell.11[0 : 16] + (splat16(X[((ax2_1.11 + (ax0_0 * 1024)) + (ax0_1.10 * 64)) + 40]) * W_local[ax2_1.11 * 16 : 16])
#         C_local_cell.12[0] = C_local_cell.12[0 : 16] + (splat16(X[((ax2_1.11 + (ax0_0 * 1024)) + (ax0_1.10 * 64)) + 48]) * W_local[ax2_1.11 * 16 : 16])
#         C_local_cell.13[0] = C_local_cell.13[0 : 16] + (splat16(X[((ax2_1.11 + (ax0_0 * 1024)) + (ax0_1.10 * 64)) + 56]) * W_local[ax2_1.11 * 16 : 16])
#       C_local[ax0_1.10 * 128] = C_local_cell.6[0 : 16]
#       C_local[(ax0_1.10 * 128) + 16] = C_local_cell.7[0 : 16]
#       C_local[(ax0_1.10 * 128) + 32] = C_local_cell.8[0 : 16]
#       C_local[(ax0_1.10 * 128) + 48] = C_local_cell.9[0 : 16]
#       C_local[(ax0_1.10 * 128) + 64] = C_local_cell.10[0 : 16]
#       C_local[(ax0_1.10 * 128) + 80] = C_local_cell.11[0 : 16]
#       C_local[(ax0_1.10 * 128) + 96] = C_local_cell.12[0 : 16]
#       C_local[(ax0_1.10 * 128) + 112] = C_local_cell.13[0 : 16]
#     if rest == 9:
#       C_local_cell.14[0] = C_local[min(ax0_1.9, 14) * 128 : 16]
#       C_local_cell.15[0] = C_local[(min(ax0_1.9, 14) * 128) + 16 : 16]
#       C_local_cell.16[0] = C_local[(min(ax0_1.9, 14) * 128) + 32 : 16]
#       C_local_cell.17[0] = C_local[(min(ax0_1.9, 14) * 128) + 48 : 16]
#       C_local_cell.18[0] = C_local[(min(ax0_1.9, 14) * 128) + 64 : 16]
#       C_local_cell.19[0] = C_local[(min(ax0_1.9, 14) * 128) + 80 : 16]
#       C_local_cell.20[0] = C_local[(min(ax0_1.9, 14) * 128) + 96 : 16]
#       C_local_cell.21[0] = C_local[(min(ax0_1.9, 14) * 128) + 112 : 16]
#       C_local_cell.22[0] = C_local[(min(ax0_1.9, 14) * 128) + 128 : 16]
#       for ax2_1.12 from 0, 8 times:
#         C_local_cell.14[0] = C_local_cell.14[0 : 16] + (splat16(X[ax2_1.12 + (min(((ax0_0 * 128) + (min(ax0_1.9, 14) * 8)), ((n * m) - 1)) * 8)]) * W_local[ax2_1.12 * 16 : 16])
#         C_local_cell.15[0] = C_local_cell.15[0 : 16] + (splat16(X[ax2_1.12 + (min((((ax0_0 * 128) + (min(ax0_1.9, 14) * 8)) + 1), ((n * m) - 1)) * 8)]) * W_local[ax2_1.12 * 16 : 16])
#         C_local_cell.16[0] = C_local_cell.16[0 : 16] + (splat16(X[ax2_1.12 + (min((((ax0_0 * 128) + (min(ax0_1.9, 14) * 8)) + 2), ((n * m) - 1)) * 8)]) * W_local[ax2_1.12 * 16 : 16])
#         C_local_cell.17[0] = C_local_cell.17[0 : 16] + (splat16(X[ax2_1.12 + (min((((ax0_0 * 128) + (min(ax0_1.9, 14) * 8)) + 3), ((n * m) - 1)) * 8)]) * W_local[ax2_1.12 * 16 : 16])
#         C_local_cell.18[0] = C_local_cell.18[0 : 16] + (splat16(X[ax2_1.12 + (min((((ax0_0 * 128) + (min(ax0_1.9, 14) * 8)) + 4), ((n * m) - 1)) * 8)]) * W_local[ax2_1.12 * 16 : 16])
#         C_local_cell.19[0] = C_local_cell.19[0 : 16] + (splat16(X[ax2_1.12 + (min((((ax0_0 * 128) + (min(ax0_1.9, 14) * 8)) + 5), ((n * m) - 1)) * 8)]) * W_local[ax2_1.12 * 16 : 16])
#         C_local_cell.20[0] = C_local_cell.20[0 : 16] + (splat16(X[ax2_1.12 + (min((((ax0_0 * 128) + (min(ax0_1.9, 14) * 8)) + 6), ((n * m) - 1)) * 8)]) * W_local[ax2_1.12 * 16 : 16])
#         C_local_cell.21[0] = C_local_cell.21[0 : 16] + (splat16(X[ax2_1.12 + (min((((ax0_0 * 128) + (min(ax0_1.9, 14) * 8)) + 7), ((n * m) - 1)) * 8)]) * W_local[ax2_1.12 * 16 : 16])
#         C_local_cell.22[0] = C_local_cell.22[0 : 16] + (splat16(X[ax2_1.12 + (min((((ax0_0 * 128) + (min(ax0_1.9, 14) * 8)) + 8), ((n * m) - 1)) * 8)]) * W_local[ax2_1.12 * 16 : 16])
#       C_local[min(ax0_1.9, 14) * 128] = C_local_cell.14[0 : 16]
#       C_local[(min(ax0_1.9, 14) * 128) + 16] = C_local_cell.15[0 : 16]
#       C_local[(min(ax0_1.9, 14) * 128) + 32] = C_local_cell.16[0 : 16]
#       C_local[(min(ax0_1.9, 14) * 128) + 48] = C_local_cell.17[0 : 16]
#       C_local[(min(ax0_1.9, 14) * 128) + 64] = C_local_cell.18[0 : 16]
#       C_local[(min(ax0_1.9, 14) * 128) + 80] = C_local_cell.19[0 : 16]
#       C_local[(min(ax0_1.9, 14) * 128) + 96] = C_local_cell.20[0 : 16]
#       C_local[(min(ax0_1.9, 14) * 128) + 112] = C_local_cell.21[0 : 16]
#       C_local[(min(ax0_1.9, 14) * 128) + 128] = C_local_cell.22[0 : 16]
#     if ((rest == 4) or (rest == 6)) or (rest == 7):
#       C_local_cell.23[0] = C_local[ax0_1.9 * 128 : 16]
#       C_local_cell.24[0] = C_local[(ax0_1.9 * 128) + 16 : 16]
#       C_local_cell.25[0] = C_local[(ax0_1.9 * 128) + 32 : 16]
#       C_local_cell.26[0] = C_local[(ax0_1.9 * 128) + 48 : 16]
#       for ax2_1.13 from 0, 8 times:
#         C_local_cell.23[0] = C_local_cell.23[0 : 16] + (splat16(X[ax2_1.13 + (min(((ax0_0 * 128) + (ax0_1.9 * 8)), ((n * m) - 1)) * 8)]) * W_local[ax2_1.13 * 16 : 16])
#         C_local_cell.24[0] = C_local_cell.24[0 : 16] + (splat16(X[ax2_1.13 + (min((((ax0_0 * 128) + (ax0_1.9 * 8)) + 1), ((n * m) - 1)) * 8)]) * W_local[ax2_1.13 * 16 : 16])
#         C_local_cell.25[0] = C_local_cell.25[0 : 16] + (splat16(X[ax2_1.13 + (min((((ax0_0 * 128) + (ax0_1.9 * 8)) + 2), ((n * m) - 1)) * 8)]) * W_local[ax2_1.13 * 16 : 16])
#         C_local_cell.26[0] = C_local_cell.26[0 : 16] + (splat16(X[ax2_1.13 + (min((((ax0_0 * 128) + (ax0_1.9 * 8)) + 3), ((n * m) - 1)) * 8)]) * W_local[ax2_1.13 * 16 : 16])
#       C_local[ax0_1.9 * 128] = C_local_cell.23[0 : 16]
#       C_local[(ax0_1.9 * 128) + 16] = C_local_cell.24[0 : 16]
#       C_local[(ax0_1.9 * 128) + 32] = C_local_cell.25[0 : 16]
#       C_local[(ax0_1.9 * 128) + 48] = C_local_cell.26[0 : 16]
#     if ((rest == 3) or (rest == 5)) or (rest == 7):
#       C_local_cell.27[0] = C_local[(ax0_1.9 * 128) + (select(rest == 7, 4, 0) * 16) : 16]
#       C_local_cell.28[0] = C_local[((ax0_1.9 * 128) + (select(rest == 7, 4, 0) * 16)) + 16 : 16]
#       C_local_cell.29[0] = C_local[((ax0_1.9 * 128) + (select(rest == 7, 4, 0) * 16)) + 32 : 16]
#       for ax2_1.14 from 0, 8 times:
#         C_local_cell.27[0] = C_local_cell.27[0 : 16] + (splat16(X[ax2_1.14 + (min((((ax0_0 * 128) + (ax0_1.9 * 8)) + select(rest == 7, 4, 0)), ((n * m) - 1)) * 8)]) * W_local[ax2_1.14 * 16 : 16])
#         C_local_cell.28[0] = C_local_cell.28[0 : 16] + (splat16(X[ax2_1.14 + (min((((ax0_0 * 128) + (ax0_1.9 * 8)) + (select(rest == 7, 4, 0) + 1)), ((n * m) - 1)) * 8)]) * W_local[ax2_1.14 * 16 : 16])
#         C_local_cell.29[0] = C_local_cell.29[0 : 16] + (splat16(X[ax2_1.14 + (min((((ax0_0 * 128) + (ax0_1.9 * 8)) + (select(rest == 7, 4, 0) + 2)), ((n * m) - 1)) * 8)]) * W_local[ax2_1.14 * 16 : 16])
#       C_local[(ax0_1.9 * 128) + (select(rest == 7, 4, 0) * 16)] = C_local_cell.27[0 : 16]
#       C_local[((ax0_1.9 * 128) + (select(rest == 7, 4, 0) * 16)) + 16] = C_local_cell.28[0 : 16]
#       C_local[((ax0_1.9 * 128) + (select(rest == 7, 4, 0) * 16)) + 32] = C_local_cell.29[0 : 16]
#     if ((rest == 2) or (rest == 5)) or (rest == 6):
#       C_local_cell.30[0] = C_local[(ax0_1.9 * 128) + (select(rest == 6, 4, select(rest == 5, 3, 0)) * 16) : 16]
#       C_local_cell.31[0] = C_local[((ax0_1.9 * 128) + (select(rest == 6, 4, select(rest == 5, 3, 0)) * 16)) + 16 : 16]
#       for ax2_1.15 from 0, 8 times:
#         C_local_cell.30[0] = C_local_cell.30[0 : 16] + (splat16(X[ax2_1.15 + (min((((ax0_0 * 128) + (ax0_1.9 * 8)) + select(rest == 6, 4, select(rest == 5, 3, 0))), ((n * m) - 1)) * 8)]) * W_local[ax2_1.15 * 16 : 16])
#         C_local_cell.31[0] = C_local_cell.31[0 : 16] + (splat16(X[ax2_1.15 + (min((((ax0_0 * 128) + (ax0_1.9 * 8)) + (select(rest == 6, 4, select(rest == 5, 3, 0)) + 1)), ((n * m) - 1)) * 8)]) * W_local[ax2_1.15 * 16 : 16])
#       C_local[(ax0_1.9 * 128) + (select(rest == 6, 4, select(rest == 5, 3, 0)) * 16)] = C_local_cell.30[0 : 16]
#       C_local[((ax0_1.9 * 128) + (select(rest == 6, 4, select(rest == 5, 3, 0)) * 16)) + 16] = C_local_cell.31[0 : 16]
#     if rest == 1:
#       C_local_cell.32[0] = C_local[ax0_1.9 * 128 : 16]
#       for ax2_1.16 from 0, 8 times:
#         C_local_cell.32[0] = C_local_cell.32[0 : 16] + (splat16(X[ax2_1.16 + (min(((ax0_0 * 128) + (ax0_1.9 * 8)), ((n * m) - 1)) * 8)]) * W_local[ax2_1.16 * 16 : 16])
#       C_local[ax0_1.9 * 128] = C_local_cell.32[0 : 16]
#     for ax0.17 from 0, min(((n * m) - (ax0_0 * 128)), 128) times:
#       Y[(ax0_0 * 2048) + (ax0.17 * 16)] = max((C_local[ax0.17 * 16 : 16] + B[0 : 16]), splat16(0.0))
