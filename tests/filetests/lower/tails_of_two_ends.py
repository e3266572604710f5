# test: lower
# target: cpu
# Elements end where blocks end and where the tile ends. Whichever is asked first, a loop over whole tiles asks for the other one.

@T.prim_func
def sums(X: T.Buffer((90, 2), "float32"), Y: T.Buffer((90,), "float32"), Z: T.Buffer((90,), "float32")):
    for ac in T.parallel(10):
        for t in range(3):
            for v in T.vectorized(8):
                with T.block("Y"):
                    vi = T.axis.spatial(90, ac // 2 * 20 + t * 8 + v)
                    T.where(ac // 2 * 20 + t * 8 + v < 90 and t * 8 + v < 20 and ac % 2 == 0)
                    Y[vi] = X[vi, 0] + X[vi, 1]
    for ac in T.parallel(10):
        for t in range(3):
            for v in T.vectorized(8):
                with T.block("Z"):
                    vi = T.axis.spatial(90, ac // 2 * 20 + t * 8 + v)
                    T.where(t * 8 + v < 20 and ac // 2 * 20 + t * 8 + v < 90 and ac % 2 == 0)
                    Z[vi] = X[vi, 0] + X[vi, 1]
# expect-listing:
# func sums()
#   param 0 X: float32[90, 2]
#   param 1 Y: float32[90] written
#   param 2 Z: float32[90] written
#
# kernel sums_0  # Y
#   array X: float32, 180 elements, global read param 0
#   array Y: float32, 90 elements, global write param 1
#   cost 90 flop, 1080 bytes; accesses proved
#   parallel for ac from 0, 10 times:
#     if (ac & 1) == 0:
#       for t.1 from 0, ((min((ac * -5), -37) + 1) >> 2) + 11 times:
#         Y[(ac * 10) + (t.1 * 8)] = pack(X[(ac * 20) + (t.1 * 16)], X[((ac * 20) + (t.1 * 16)) + 2], X[((ac * 20) + (t.1 * 16)) + 4], X[((ac * 20) + (t.1 * 16)) + 6], X[((ac * 20) + (t.1 * 16)) + 8], X[((ac * 20) + (t.1 * 16)) + 10], X[((ac * 20) + (t.1 * 16)) + 12], X[((ac * 20) + (t.1 * 16)) + 14]) + pack(X[((ac * 20) + (t.1 * 16)) + 1], X[((ac * 20) + (t.1 * 16)) + 3], X[((ac * 20) + (t.1 * 16)) + 5], X[((ac * 20) + (t.1 * 16)) + 7], X[((ac * 20) + (t.1 * 16)) + 9], X[((ac * 20) + (t.1 * 16)) + 11], X[((ac * 20) + (t.1 * 16)) + 13], X[((ac * 20) + (t.1 * 16)) + 15])
#       for t.2 from (((min((ac * -5), -37) + 1) >> 2) + 11) * 2, (min((90 - (ac * 10)), (2 * 8)) >> 2) - ((((min((ac * -5), -37) + 1) >> 2) + 11) * 2) times:
#         Y[(ac * 10) + (t.2 * 4)] = pack(X[(ac * 20) + (t.2 * 8)], X[((ac * 20) + (t.2 * 8)) + 2], X[((ac * 20) + (t.2 * 8)) + 4], X[((ac * 20) + (t.2 * 8)) + 6]) + pack(X[((ac * 20) + (t.2 * 8)) + 1], X[((ac * 20) + (t.2 * 8)) + 3], X[((ac * 20) + (t.2 * 8)) + 5], X[((ac * 20) + (t.2 * 8)) + 7])
#       for t.3 from (min((90 - (ac * 10)), (2 * 8)) >> 2) * 4, min((90 - (ac * 10)), (2 * 8)) - ((min((90 - (ac * 10)), (2 * 8)) >> 2) * 4) times:
#         Y[(ac * 10) + t.3] = X[(ac * 20) + (t.3 * 2)] + X[((ac * 20) + (t.3 * 2)) + 1]
#       for t.4 from 2 * 2, 5 - (2 * 2) times:
#         for v from 0, 4 times:
#           if ((ac * 10) + (0 + v)) < 74:
#             Y[((ac * 10) + v) + 16] = X[((ac * 20) + (v * 2)) + 32] + X[((ac * 20) + (v * 2)) + 33]
#       for t.6 from 5 * 4, 20 - (5 * 4) times:
#         if ((ac * 10) + t.6) < 90:
#           Y[(ac * 10) + t.6] = X[(ac * 20) + (t.6 * 2)] + X[((ac * 20) + (t.6 * 2)) + 1]
#
# kernel sums_1  # Z
#   array X: float32, 180 elements, global read param 0
#   array Z: float32, 90 elements, global write param 2
#   cost 90 flop, 1080 bytes; accesses proved
#   parallel for ac from 0, 10 times:
#     if (ac & 1) == 0:
#       for t.1 from 0, ((min((ac * -5), -37) + 1) >> 2) + 11 times:
#         Z[(ac * 10) + (t.1 * 8)] = pack(X[(ac * 20) + (t.1 * 16)], X[((ac * 20) + (t.1 * 16)) + 2], X[((ac * 20) + (t.1 * 16)) + 4], X[((ac * 20) + (t.1 * 16)) + 6], X[((ac * 20) + (t.1 * 16)) + 8], X[((ac * 20) + (t.1 * 16)) + 10], X[((ac * 20) + (t.1 * 16)) + 12], X[((ac * 20) + (t.1 * 16)) + 14]) + pack(X[((ac * 20) + (t.1 * 16)) + 1], X[((ac * 20) + (t.1 * 16)) + 3], X[((ac * 20) + (t.1 * 16)) + 5], X[((ac * 20) + (t.1 * 16)) + 7], X[((ac * 20) + (t.1 * 16)) + 9], X[((ac * 20) + (t.1 * 16)) + 11], X[((ac * 20) + (t.1 * 16)) + 13], X[((ac * 20) + (t.1 * 16)) + 15])
#       for t.2 from (((min((ac * -5), -37) + 1) >> 2) + 11) * 2, (min((90 - (ac * 10)), (2 * 8)) >> 2) - ((((min((ac * -5), -37) + 1) >> 2) + 11) * 2) times:
#         Z[(ac * 10) + (t.2 * 4)] = pack(X[(ac * 20) + (t.2 * 8)], X[((ac * 20) + (t.2 * 8)) + 2], X[((ac * 20) + (t.2 * 8)) + 4], X[((ac * 20) + (t.2 * 8)) + 6]) + pack(X[((ac * 20) + (t.2 * 8)) + 1], X[((ac * 20) + (t.2 * 8)) + 3], X[((ac * 20) + (t.2 * 8)) + 5], X[((ac * 20) + (t.2 * 8)) + 7])
#       for t.3 from (min((90 - (ac * 10)), (2 * 8)) >> 2) * 4, min((90 - (ac * 10)), (2 * 8)) - ((min((90 - (ac * 10)), (2 * 8)) >> 2) * 4) times:
#         Z[(ac * 10) + t.3] = X[(ac * 20) + (t.3 * 2)] + X[((ac * 20) + (t.3 * 2)) + 1]
#       for t.4 from 2 * 2, 5 - (2 * 2) times:
#         for v from 0, 4 times:
#           if ((ac * 10) + (0 + v)) < 74:
#             Z[((ac * 10) + v) + 16] = X[((ac * 20) + (v * 2)) + 32] + X[((ac * 20) + (v * 2)) + 33]
#       for t.6 from 5 * 4, 20 - (5 * 4) times:
#         if ((ac * 10) + t.6) < 90:
#           Z[(ac * 10) + t.6] = X[(ac * 20) + (t.6 * 2)] + X[((ac * 20) + (t.6 * 2)) + 1]
