# test: lower
# target: cpu
# One thread writes for all of them, without a barrier of the program: loops are split where another thread reads it.

@T.prim_func
def scale(X: T.Buffer((8,), "float32"), Y: T.Buffer((8,), "float32")):
    S = T.alloc_buffer((1,), "float32", scope="shared")
    for t in T.thread_binding(8, "threadIdx.x"):
        if t < 1:
            S[0] = X[0]
        Y[t] = S[0] * X[t]

# expect-listing:
# func scale()
#   param 0 X: float32[8]
#   param 1 Y: float32[8] written
#
# kernel scale  #
#   array X: float32, 8 elements, global read param 0
#   array Y: float32, 8 elements, global write param 1
#   array S: float32, 1 elements, local
#   cost 8 flop, 64 bytes; accesses proved
#   for t.0 from 0, 1 times:
#     S[0] = X[0]
#   for t.1 from 0, 8 times:
#     Y[t.1] = S[0] * X[t.1]
