# test: lower
# target: cpu
# Each block of pixels ends at its own place. Whole vectors run until there, then narrower ones, then pixels one by one: no mask is for elements
# that are gathered.

@T.prim_func
def turn(X: T.Buffer((841, 2), "float32"), Y: T.Buffer((2, 29, 29), "float32")):
    for bc in T.parallel(12):
        for t in range(9):
            for v in T.vectorized(16):
                with T.block("Y"):
                    vc = T.axis.spatial(2, bc % 2)
                    vi = T.axis.spatial(841, bc // 2 * 144 + t * 16 + v)
                    T.where(bc // 2 * 144 + t * 16 + v < 841)
                    Y[vc, vi // 29, vi % 29] = X[vi, vc]
# expect-listing:
# func turn()
#   param 0 X: float32[841, 2]
#   param 1 Y: float32[2, 29, 29] written
#
# kernel turn  # Y
#   array X: float32, 1682 elements, global read param 0
#   array Y: float32, 1682 elements, global write param 1
#   cost 0 flop, 13456 bytes; accesses proved
#   parallel for bc from 0, 12 times:
#     for t.1 from 0, ((min(((bc >> 1) * -144), -697) + 9) >> 4) + 52 times:
#       Y[(((bc & 1) * 841) + ((bc >> 1) * 144)) + (t.1 * 16)] = pack(X[(((bc >> 1) * 288) + (t.1 * 32)) + (bc & 1)], X[((((bc >> 1) * 288) + (t.1 * 32)) + (bc & 1)) + 2], X[((((bc >> 1) * 288) + (t.1 * 32)) + (bc & 1)) + 4], X[((((bc >> 1) * 288) + (t.1 * 32)) + (bc & 1)) + 6], X[((((bc >> 1) * 288) + (t.1 * 32)) + (bc & 1)) + 8], X[((((bc >> 1) * 288) + (t.1 * 32)) + (bc & 1)) + 10], X[((((bc >> 1) * 288) + (t.1 * 32)) + (bc & 1)) + 12], X[((((bc >> 1) * 288) + (t.1 * 32)) + (bc & 1)) + 14], X[((((bc >> 1) * 288) + (t.1 * 32)) + (bc & 1)) + 16], X[((((bc >> 1) * 288) + (t.1 * 32)) + (bc & 1)) + 18], X[((((bc >> 1) * 288) + (t.1 * 32)) + (bc & 1)) + 20], X[((((bc >> 1) * 288) + (t.1 * 32)) + (bc & 1)) + 22], X[((((bc >> 1) * 288) + (t.1 * 32)) + (bc & 1)) + 24], X[((((bc >> 1) * 288) + (t.1 * 32)) + (bc & 1)) + 26], X[((((bc >> 1) * 288) + (t.1 * 32)) + (bc & 1)) + 28], X[((((bc >> 1) * 288) + (t.1 * 32)) + (bc & 1)) + 30])
#     for t.2 from (((min(((bc >> 1) * -144), -697) + 9) >> 4) + 52) * 4, (min((841 - ((bc >> 1) * 144)), (9 * 16)) >> 2) - ((((min(((bc >> 1) * -144), -697) + 9) >> 4) + 52) * 4) times:
#       Y[(((bc & 1) * 841) + ((bc >> 1) * 144)) + (t.2 * 4)] = pack(X[(((bc >> 1) * 288) + (t.2 * 8)) + (bc & 1)], X[((((bc >> 1) * 288) + (t.2 * 8)) + (bc & 1)) + 2], X[((((bc >> 1) * 288) + (t.2 * 8)) + (bc & 1)) + 4], X[((((bc >> 1) * 288) + (t.2 * 8)) + (bc & 1)) + 6])
#     for t.3 from (min((841 - ((bc >> 1) * 144)), (9 * 16)) >> 2) * 4, min((841 - ((bc >> 1) * 144)), (9 * 16)) - ((min((841 - ((bc >> 1) * 144)), (9 * 16)) >> 2) * 4) times:
#       Y[(((bc & 1) * 841) + ((bc >> 1) * 144)) + t.3] = X[(((bc >> 1) * 288) + (t.3 * 2)) + (bc & 1)]
