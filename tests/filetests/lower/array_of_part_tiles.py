# test: lower
# target: avx512
# Eight rows are a tile, and a thread has two tiles. No tile begins past the end, but the last one runs past it: the array is still the thread's own,
# since what a condition leaves out of the writes is past all that is read.

@T.prim_func
def double(X: T.Buffer((2, 20, 16), "float32"), Y: T.Buffer((2, 20, 16), "float32")):
    P = T.alloc_buffer((2, 20, 16), "float32", scope="local")
    for f in T.parallel(4):
        for o in range(2):
            for u in T.unroll(8):
                for l in T.vectorized(16):
                    with T.block("P"):
                        vb = T.axis.spatial(2, f // 2)
                        vr = T.axis.spatial(20, f % 2 * 16 + o * 8 + u)
                        vl = T.axis.spatial(16, l)
                        T.where(f % 2 * 16 + o * 8 + u < 20)
                        P[vb, vr, vl] = X[vb, vr, vl]
        for r in range(16):
            for l in T.vectorized(16):
                with T.block("Y"):
                    vb = T.axis.spatial(2, f // 2)
                    vr = T.axis.spatial(20, f % 2 * 16 + r)
                    vl = T.axis.spatial(16, l)
                    T.where(f % 2 * 16 + r < 20)
                    Y[vb, vr, vl] = P[vb, vr, vl] + P[vb, vr, vl]
# expect-listing:
# func double()
#   param 0 X: float32[2, 20, 16]
#   param 1 Y: float32[2, 20, 16] written
#
# kernel double  # P, Y
#   array X: float32, 640 elements, global read param 0
#   array Y: float32, 640 elements, global write param 1
#   array P: float32, 256 elements, local
#   cost 640 flop, 5120 bytes; accesses proved
#   parallel for f from 0, 4 times:
#     for o from 0, min(((f & 1) * -2), -1) + 3 times:
#       P[o * 128] = X[(((f >> 1) * 320) + ((f & 1) * 256)) + (o * 128) : 16]
#       P[(o * 128) + 16] = X[((((f >> 1) * 320) + ((f & 1) * 256)) + (o * 128)) + 16 : 16]
#       P[(o * 128) + 32] = X[((((f >> 1) * 320) + ((f & 1) * 256)) + (o * 128)) + 32 : 16]
#       P[(o * 128) + 48] = X[((((f >> 1) * 320) + ((f & 1) * 256)) + (o * 128)) + 48 : 16]
#       P[(o * 128) + 64] = X[(((f >> 1) * 320) + (min((((f & 1) * 16) + (o * 8)), 15) * 16)) + 64 : 16]
#       P[(o * 128) + 80] = X[(((f >> 1) * 320) + (min((((f & 1) * 8) + (o * 4)), 7) * 32)) + 80 : 16]
#       P[(o * 128) + 96] = X[(((f >> 1) * 320) + (min((((f & 1) * 16) + (o * 8)), 13) * 16)) + 96 : 16]
#       P[(o * 128) + 112] = X[(((f >> 1) * 320) + (min((((f & 1) * 4) + (o * 2)), 3) * 64)) + 112 : 16]
#     for r from 0, (min(((f & 1) * -4), -1) * 4) + 20 times:
#       Y[(((f >> 1) * 320) + ((f & 1) * 256)) + (r * 16)] = P[r * 16 : 16] + P[r * 16 : 16]
