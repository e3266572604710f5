# test: lower
# target: avx512
# What is read in a tail depends on the lane, so that it is no vector: its lanes take turns, and end with the last one that counts.

@T.prim_func
def joined(x: T.handle, y: T.handle, z: T.handle):
    n = T.int64()
    m = T.int64()
    X = T.match_buffer(x, (n,), "float32")
    Y = T.match_buffer(y, (m,), "float32")
    Z = T.match_buffer(z, (n + m,), "float32")
    for o in T.parallel((n + m + 3) // 4):
        for l in T.vectorized(4):
            with T.block("Z"):
                vi = T.axis.spatial(n + m, o * 4 + l)
                T.where(o * 4 + l < n + m)
                Z[vi] = T.if_then_else(vi < n, X[vi], Y[vi - n])
# expect-listing:
# func joined(n, m)
#   param 0 x: float32[n]
#   param 1 y: float32[m]
#   param 2 z: float32[(n + m)] written
#
# kernel joined  # Z
#   scalar size.0: int64 = ((n + m) + 3) // 4
#   scalar size.2: int64 = (n + m) // 4
#   scalar n: int64 = n
#   scalar m: int64 = m
#   scalar size.5: int64 = (n + m) % 4
#   scalar size.6: int64 = max(((((n + m) // 4) * 4) - n), 0)
#   scalar size.7: int64 = max(((((n + m) // 4) * 4) - n), -1)
#   scalar size.8: int64 = max(((((n + m) // 4) * 4) - n), -2)
#   array X: float32, n elements, global read param 0
#   array Y: float32, m elements, global read param 1
#   array Z: float32, n + m elements, global write param 2
#   cost 0 flop, ((0 + (n * 4)) + (m * 4)) + ((n + m) * 4) bytes; accesses checked
#   parallel for o from 0, size.0 times:
#     if o < size.2:
#       Z[o * 4] = select(ramp4(0, 1) < splat4(int32(max(min((n - (o * 4)), 4), 0))), X[o * 4 : 4, first n - (o * 4)], pack(Y[max(((o * 4) - n), 0)], Y[max(((o * 4) - n), -1) + 1], Y[max(min(m, (((o * 4) - n) + 3)), 1) - 1], Y[max(min(m, (((o * 4) - n) + 4)), 1) - 1]))
#     else:
#       for l from 0, size.5 times:
#         Z[(size.2 * 4) + l] = select(((size.2 * 4) + l) < n, X[max(min(((size.2 * 4) + l), (n - 1)), 0)], Y[max((((size.2 * 4) + l) - n), 0)])
