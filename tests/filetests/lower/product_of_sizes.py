# test: lower
# target: cpu
# The factors of an extent are sizes, too: neither is negative, so that the loop splits as one of a single size does.

@T.prim_func
def scale(x: T.handle, y: T.handle, n: T.int64, m: T.int64):
    X = T.match_buffer(x, (n * m,), "float32")
    Y = T.match_buffer(y, (n * m,), "float32")
    for io in T.parallel((n * m + 15) // 16):
        for ii in range(16):
            with T.block("Y"):
                vi = T.axis.spatial(n * m, io * 16 + ii)
                T.where(io * 16 + ii < n * m)
                Y[vi] = X[vi] * T.float32(2)
# expect-listing:
# func scale(n, m)
#   param 0 x: float32[(n * m)]
#   param 1 y: float32[(n * m)] written
#
# kernel scale  # Y
#   scalar size: int64 = ((n * m) + 15) // 16
#   scalar n: int64 = n
#   scalar m: int64 = m
#   array X: float32, n * m elements, global read param 0
#   array Y: float32, n * m elements, global write param 1
#   cost 0 + (n * m) flop, (0 + ((n * m) * 4)) + ((n * m) * 4) bytes; accesses proved
#   parallel for io from 0, size times:
#     for ii from 0, min(((n * m) - (io * 16)), 16) times:
#       Y[(io * 16) + ii] = X[(io * 16) + ii] * 2.0
