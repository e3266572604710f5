# test: lower
# target: cpu
# Tiles of seven rows. Of the rows behind the last whole one, four are the first ones, three begin with the first or fifth, two with the first, fourth or fifth.

@T.prim_func
def sums(x: T.handle, W: T.Buffer((9,), "float32"), y: T.handle):
    n = T.int64()
    X = T.match_buffer(x, (n, 9), "float32")
    Y = T.match_buffer(y, (n,), "float32")
    P = T.alloc_buffer((n,), "float32", scope="local")
    for f in range((n + 27) // 28):
        for i in range(4):
            for u in T.unroll(7):
                with T.block("init"):
                    vi = T.axis.spatial(n, f * 28 + i * 7 + u)
                    T.where(f * 28 + i * 7 + u < n)
                    P[vi] = T.float32(0)
        for i, k in T.grid(4, 9):
            for u in T.unroll(7):
                with T.block("update"):
                    vi = T.axis.spatial(n, f * 28 + i * 7 + u)
                    vk = T.axis.reduce(9, k)
                    T.where(f * 28 + i * 7 + u < n)
                    P[vi] = P[vi] + X[vi, vk] * W[vk]
        for r in range(28):
            with T.block("Y"):
                vi = T.axis.spatial(n, f * 28 + r)
                T.where(f * 28 + r < n)
                Y[vi] = P[vi]
# expect-listing:
# func sums(n)
#   param 0 x: float32[n, 9]
#   param 1 W: float32[9]
#   param 2 y: float32[n] written
#
# kernel sums  # init, update, Y
#   scalar size.0: int64 = (n + 27) // 28
#   scalar size.2: int64 = (n + 6) // 7
#   scalar n: int64 = n
#   scalar size.6: int64 = n // 7
#   array X: float32, n * 9 elements, global read param 0
#   array W: float32, 9 elements, global read param 1
#   array Y: float32, n elements, global write param 2
#   array P: float32, 28 elements, local
#   array P_cell.4: float32, 1 elements, local
#   array P_cell.5: float32, 1 elements, local
#   array P_cell.6: float32, 1 elements, local
#   array P_cell.7: float32, 1 elements, local
#   array P_cell.8: float32, 1 elements, local
#   array P_cell.9: float32, 1 elements, local
#   array P_cell.10: float32, 1 elements, local
#   array P_cell.11: float32, 1 elements, local
#   array P_cell.12: float32, 1 elements, local
#   array P_cell.13: float32, 1 elements, local
#   array P_cell.14: float32, 1 elements, local
#   array P_cell.15: float32, 1 elements, local
#   array P_cell.16: float32, 1 elements, local
#   array P_cell.17: float32, 1 elements, local
#   array P_cell.18: float32, 1 elements, local
#   array P_cell.19: float32, 1 elements, local
#   array P_cell.20: float32, 1 elements, local
#   array P_cell.21: float32, 1 elements, local
#   array P_cell.22: float32, 1 elements, local
#   array P_cell.23: float32, 1 elements, local
#   array P_cell.24: float32, 1 elements, local
#   array P_cell.25: float32, 1 elements, local
#   array P_cell.26: float32, 1 elements, local
#   array P_cell.27: float32, 1 elements, local
#   array P_cell.28: float32, 1 elements, local
#   cost 0 + ((n * 9) * 2) flop, ((0 + ((n * 9) * 4)) + 36) + (n * 4) bytes; accesses proved
#   for f from 0, size.0 times:
#     for i.3 from 0, min((size.2 - (f * 4)), 4) times:
#       P[i.3 * 7] = 0.0
#       P[(i.3 * 7) + 1] = 0.0
#       P[(i.3 * 7) + 2] = 0.0
#       P[(i.3 * 7) + 3] = 0.0
#       P[(i.3 * 7) + 4] = 0.0
#       P[(i.3 * 7) + 5] = 0.0
#       P[(i.3 * 7) + 6] = 0.0
#     let rest = select(((max(min((n - (f * 28)), 28), 0) rem 7) == 1) and (2 <= min((n - (f * 28)), 28)), 8, max(min((n - (f * 28)), 28), 0) rem 7)
#     let i.7 = max((min((size.6 - (f * 4)), 3) - (rest >> 3)), 0)
#     for i.8 from 0, min((size.6 - (f * 4)), 4) - (rest >> 3) times:
#       P_cell.4[0] = P[i.8 * 7]
#       P_cell.5[0] = P[(i.8 * 7) + 1]
#       P_cell.6[0] = P[(i.8 * 7) + 2]
#       P_cell.7[0] = P[(i.8 * 7) + 3]
#       P_cell.8[0] = P[(i.8 * 7) + 4]
#       P_cell.9[0] = P[(i.8 * 7) + 5]
#       P_cell.10[0] = P[(i.8 * 7) + 6]
#       for k.9 from 0, 9 times:
#         P_cell.4[0] = P_cell.4[0] + (X[((f * 252) + (i.8 * 63)) + k.9] * W[k.9])
#         P_cell.5[0] = P_cell.5[0] + (X[(((f * 252) + (i.8 * 63)) + k.9) + 9] * W[k.9])
#         P_cell.6[0] = P_cell.6[0] + (X[(((f * 252) + (i.8 * 63)) + k.9) + 18] * W[k.9])
#         P_cell.7[0] = P_cell.7[0] + (X[(((f * 252) + (i.8 * 63)) + k.9) + 27] * W[k.9])
#         P_cell.8[0] = P_cell.8[0] + (X[(((f * 252) + (i.8 * 63)) + k.9) + 36] * W[k.9])
#         P_cell.9[0] = P_cell.9[0] + (X[(((f * 252) + (i.8 * 63)) + k.9) + 45] * W[k.9])
#         P_cell.10[0] = P_cell.10[0] + (X[(((f * 252) + (i.8 * 63)) + k.9) + 54] * W[k.9])
#       P[i.8 * 7] = P_cell.4[0]
#       P[(i.8 * 7) + 1] = P_cell.5[0]
#       P[(i.8 * 7) + 2] = P_cell.6[0]
#       P[(i.8 * 7) + 3] = P_cell.7[0]
#       P[(i.8 * 7) + 4] = P_cell.8[0]
#       P[(i.8 * 7) + 5] = P_cell.9[0]
#       P[(i.8 * 7) + 6] = P_cell.10[0]
#     if rest == 8:
#       P_cell.11[0] = P[min(i.7, 2) * 7]
#       P_cell.12[0] = P[(min(i.7, 2) * 7) + 1]
#       P_cell.13[0] = P[(min(i.7, 2) * 7) + 2]
#       P_cell.14[0] = P[(min(i.7, 2) * 7) + 3]
#       P_cell.15[0] = P[(min(i.7, 2) * 7) + 4]
#       P_cell.16[0] = P[(min(i.7, 2) * 7) + 5]
#       P_cell.17[0] = P[(min(i.7, 2) * 7) + 6]
#       P_cell.18[0] = P[(min(i.7, 2) * 7) + 7]
#       for k.10 from 0, 9 times:
#         P_cell.11[0] = P_cell.11[0] + (X[(min(((f * 28) + (min(i.7, 2) * 7)), (n - 1)) * 9) + k.10] * W[k.10])
#         P_cell.12[0] = P_cell.12[0] + (X[(min((((f * 28) + (min(i.7, 2) * 7)) + 1), (n - 1)) * 9) + k.10] * W[k.10])
#         P_cell.13[0] = P_cell.13[0] + (X[(min((((f * 28) + (min(i.7, 2) * 7)) + 2), (n - 1)) * 9) + k.10] * W[k.10])
#         P_cell.14[0] = P_cell.14[0] + (X[(min((((f * 28) + (min(i.7, 2) * 7)) + 3), (n - 1)) * 9) + k.10] * W[k.10])
#         P_cell.15[0] = P_cell.15[0] + (X[(min((((f * 28) + (min(i.7, 2) * 7)) + 4), (n - 1)) * 9) + k.10] * W[k.10])
#         P_cell.16[0] = P_cell.16[0] + (X[(min((((f * 28) + (min(i.7, 2) * 7)) + 5), (n - 1)) * 9) + k.10] * W[k.10])
#         P_cell.17[0] = P_cell.17[0] + (X[(min((((f * 28) + (min(i.7, 2) * 7)) + 6), (n - 1)) * 9) + k.10] * W[k.10])
#         P_cell.18[0] = P_cell.18[0] + (X[(min((((f * 28) + (min(i.7, 2) * 7)) + 7), (n - 1)) * 9) + k.10] * W[k.10])
#       P[min(i.7, 2) * 7] = P_cell.11[0]
#       P[(min(i.7, 2) * 7) + 1] = P_cell.12[0]
#       P[(min(i.7, 2) * 7) + 2] = P_cell.13[0]
#       P[(min(i.7, 2) * 7) + 3] = P_cell.14[0]
#       P[(min(i.7, 2) * 7) + 4] = P_cell.15[0]
#       P[(min(i.7, 2) * 7) + 5] = P_cell.16[0]
#       P[(min(i.7, 2) * 7) + 6] = P_cell.17[0]
#       P[(min(i.7, 2) * 7) + 7] = P_cell.18[0]
#     if (rest == 4) or (rest == 6):
#       P_cell.19[0] = P[i.7 * 7]
#       P_cell.20[0] = P[(i.7 * 7) + 1]
#       P_cell.21[0] = P[(i.7 * 7) + 2]
#       P_cell.22[0] = P[(i.7 * 7) + 3]
#       for k.11 from 0, 9 times:
#         P_cell.19[0] = P_cell.19[0] + (X[(min(((f * 28) + (i.7 * 7)), (n - 1)) * 9) + k.11] * W[k.11])
#         P_cell.20[0] = P_cell.20[0] + (X[(min((((f * 28) + (i.7 * 7)) + 1), (n - 1)) * 9) + k.11] * W[k.11])
#         P_cell.21[0] = P_cell.21[0] + (X[(min((((f * 28) + (i.7 * 7)) + 2), (n - 1)) * 9) + k.11] * W[k.11])
#         P_cell.22[0] = P_cell.22[0] + (X[(min((((f * 28) + (i.7 * 7)) + 3), (n - 1)) * 9) + k.11] * W[k.11])
#       P[i.7 * 7] = P_cell.19[0]
#       P[(i.7 * 7) + 1] = P_cell.20[0]
#       P[(i.7 * 7) + 2] = P_cell.21[0]
#       P[(i.7 * 7) + 3] = P_cell.22[0]
#     if (rest == 3) or (rest == 5):
#       P_cell.23[0] = P[i.7 * 7]
#       P_cell.24[0] = P[(i.7 * 7) + 1]
#       P_cell.25[0] = P[(i.7 * 7) + 2]
#       for k.12 from 0, 9 times:
#         P_cell.23[0] = P_cell.23[0] + (X[(min(((f * 28) + (i.7 * 7)), (n - 1)) * 9) + k.12] * W[k.12])
#         P_cell.24[0] = P_cell.24[0] + (X[(min((((f * 28) + (i.7 * 7)) + 1), (n - 1)) * 9) + k.12] * W[k.12])
#         P_cell.25[0] = P_cell.25[0] + (X[(min((((f * 28) + (i.7 * 7)) + 2), (n - 1)) * 9) + k.12] * W[k.12])
#       P[i.7 * 7] = P_cell.23[0]
#       P[(i.7 * 7) + 1] = P_cell.24[0]
#       P[(i.7 * 7) + 2] = P_cell.25[0]
#     if ((rest == 2) or (rest == 5)) or (rest == 6):
#       P_cell.26[0] = P[(i.7 * 7) + select(rest == 6, 4, select(rest == 5, 3, 0))]
#       P_cell.27[0] = P[((i.7 * 7) + select(rest == 6, 4, select(rest == 5, 3, 0))) + 1]
#       for k.13 from 0, 9 times:
#         P_cell.26[0] = P_cell.26[0] + (X[(min((((f * 28) + (i.7 * 7)) + select(rest == 6, 4, select(rest == 5, 3, 0))), (n - 1)) * 9) + k.13] * W[k.13])
#         P_cell.27[0] = P_cell.27[0] + (X[(min((((f * 28) + (i.7 * 7)) + (select(rest == 6, 4, select(rest == 5, 3, 0)) + 1)), (n - 1)) * 9) + k.13] * W[k.13])
#       P[(i.7 * 7) + select(rest == 6, 4, select(rest == 5, 3, 0))] = P_cell.26[0]
#       P[((i.7 * 7) + select(rest == 6, 4, select(rest == 5, 3, 0))) + 1] = P_cell.27[0]
#     if rest == 1:
#       P_cell.28[0] = P[i.7 * 7]
#       for k.14 from 0, 9 times:
#         P_cell.28[0] = P_cell.28[0] + (X[(min(((f * 28) + (i.7 * 7)), (n - 1)) * 9) + k.14] * W[k.14])
#       P[i.7 * 7] = P_cell.28[0]
#     for r from 0, min((n - (f * 28)), 28) times:
#       Y[(f * 28) + r] = P[r]
