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
#   scalar size.0: int64 = (n * m) // 16
#   scalar size.3: int64 = (((n * m) % 16) + 15) // 16
#   scalar size.5: int64 = (n * m) % 16
#   array X: float32, n * m elements, global read param 0
#   array Y: float32, n * m elements, global write param 1
#   cost 0 + (n * m) flop, (0 + ((n * m) * 4)) + ((n * m) * 4) bytes; accesses proved
#   parallel for io.1 from 0, size.0 times:
#     for ii.2 from 0, 16 times:
#       Y[(io.1 * 16) + ii.2] = X[(io.1 * 16) + ii.2] * 2.0
#   for io.4 from 0, size.3 times:
#     for ii.6 from 0, size.5 times:
#       Y[(size.0 * 16) + ii.6] = X[(size.0 * 16) + ii.6] * 2.0
