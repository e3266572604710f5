# test: lower
# target: cpu
# A partial tile is split off, so that the other tiles run without a condition.

@T.prim_func
def scale(x: T.handle, y: T.handle):
    n = T.int64()
    X = T.match_buffer(x, (n,), "float32")
    Y = T.match_buffer(y, (n,), "float32")
    for io in T.parallel((n + 15) // 16):
        for ii in range(16):
            with T.block("Y"):
                vi = T.axis.spatial(n, io * 16 + ii)
                T.where(io * 16 + ii < n)
                Y[vi] = X[vi] * T.float32(2)

# expect-listing:
# func scale(n)
#   param 0 x: float32[n]
#   param 1 y: float32[n] written
#
# kernel scale  # Y
#   scalar size: int64 = (n + 15) // 16
#   scalar n: int64 = n
#   array X: float32, n elements, global read param 0
#   array Y: float32, n elements, global write param 1
#   cost 0 + n flop, (0 + (n * 4)) + (n * 4) bytes; accesses proved
#   parallel for io from 0, size times:
#     for ii from 0, min((n - (io * 16)), 16) times:
#       Y[(io * 16) + ii] = X[(io * 16) + ii] * 2.0
