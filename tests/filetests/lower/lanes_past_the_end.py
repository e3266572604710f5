# test: lower
# target: avx512
# Tiles of two vectors, the second of which begins past the end in the last tile: its lanes are counted still, and pixels whose digits
# are indices are loaded as the neighbours that they are.

@T.prim_func
def double(X: T.Buffer((4, 6, 6), "float32"), Y: T.Buffer((4, 36), "float32")):
    P = T.alloc_buffer((4, 36), "float32", scope="local")
    for t in T.parallel(2):
        for c in range(4):
            for u in T.unroll(2):
                for l in T.vectorized(16):
                    with T.block("P"):
                        vc = T.axis.spatial(4, c)
                        vp = T.axis.spatial(36, t * 32 + u * 16 + l)
                        T.where(t * 32 + u * 16 + l < 36)
                        P[vc, vp] = X[vc, vp // 6, vp % 6]
        for c in range(4):
            for u in T.unroll(2):
                for l in T.vectorized(16):
                    with T.block("Y"):
                        vc = T.axis.spatial(4, c)
                        vp = T.axis.spatial(36, t * 32 + u * 16 + l)
                        T.where(t * 32 + u * 16 + l < 36)
                        Y[vc, vp] = P[vc, vp] + P[vc, vp]
# expect-listing:
# func double()
#   param 0 X: float32[4, 6, 6]
#   param 1 Y: float32[4, 36] written
#
# kernel double  # P, Y
#   array X: float32, 144 elements, global read param 0
#   array Y: float32, 144 elements, global write param 1
#   array P: float32, 128 elements, local
#   cost 144 flop, 1152 bytes; accesses proved
#   parallel for t from 0, 2 times:
#     for c.1 from 0, 4 times:
#       P[c.1 * 32] = X[(c.1 * 36) + (t * 32) : 16, first 36 - (t * 32)]
#       P[(c.1 * 32) + 16] = X[(c.1 * 36) + 16 : 16, first 20 - (t * 32)]
#     for c.2 from 0, 4 times:
#       Y[(c.2 * 36) + (t * 32) : 16, first 36 - (t * 32)] = P[c.2 * 32 : 16, first 36 - (t * 32)] + P[c.2 * 32 : 16, first 36 - (t * 32)]
#       Y[(c.2 * 36) + 16 : 16, first 20 - (t * 32)] = P[(c.2 * 32) + 16 : 16, first 20 - (t * 32)] + P[(c.2 * 32) + 16 : 16, first 20 - (t * 32)]
