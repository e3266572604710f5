# test: lower
# target: lavapipe
# run: until hide_extents
# Mesa writes out what it sees to be short; of long bodies the host says how often they run.

@T.prim_func
def rows(X: T.Buffer((4, 24, 8), "float32"), Y: T.Buffer((4, 24, 8), "float32")):
    for t in T.thread_binding(4, "threadIdx.x"):
        for k in range(24):
            Y[t, k, 0] = T.exp(T.sin((X[t, k, 0] * T.float32(2) + T.float32(1)) * (X[t, k, 1] * T.float32(3) - T.float32(2))))
        for k in range(8):
            Y[t, k, 1] = X[t, k, 1]
# expect-listing:
# after hide_extents:
# kernel rows  #
#   launch grid [1, 1, 1] block [4, 1, 1]
#   scalar count_24: int32 = 24
#   array X: float32, 768 elements, global read param 0
#   array Y: float32, 768 elements, global write param 1
#   cost 672 flop, 6144 bytes; accesses proved
#   for k.0 from 0, count_24 times:
#     Y[(threadIdx.x * 192) + (k.0 * 8)] = exp(sin(((X[(threadIdx.x * 192) + (k.0 * 8)] * 2.0) + 1.0) * ((X[((threadIdx.x * 192) + (k.0 * 8)) + 1] * 3.0) - 2.0)))
#   for k.1 from 0, 8 times:
#     Y[((threadIdx.x * 192) + (k.1 * 8)) + 1] = X[((threadIdx.x * 192) + (k.1 * 8)) + 1]
