# test: lower
# target: cpu
# A loop whose extent only a launch knows cannot be written out, whatever its kind says.

@T.prim_func
def double(x: T.handle, y: T.handle):
    n = T.int64()
    X = T.match_buffer(x, (n,), "float32")
    Y = T.match_buffer(y, (n,), "float32")
    for i in T.unroll(n):
        Y[i] = X[i] * 2.0

# expect-listing:
# func double(n)
#   param 0 x: float32[n]
#   param 1 y: float32[n] written
#
# kernel double  #
#   scalar n: int64 = n
#   array X: float32, n elements, global read param 0
#   array Y: float32, n elements, global write param 1
#   cost 0 + n flop, (0 + (n * 4)) + (n * 4) bytes; accesses proved
#   for i from 0, n times:
#     Y[i] = X[i] * 2.0
