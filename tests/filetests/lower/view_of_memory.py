# test: lower
# target: gpu
# A declared buffer is a second way to index memory.

@T.prim_func
def columns(X: T.Buffer((16, 8), "float32"), Y: T.Buffer((4, 4), "float32")):
    A = T.decl_buffer((4, 4), "float32", data=X.data, strides=(1, 8), elem_offset=3)
    for t in T.thread_binding(4, "threadIdx.x"):
        for j in range(4):
            Y[t, j] = A[t, j]

# expect-listing:
# func columns()
#   param 0 X: float32[16, 8]
#   param 1 Y: float32[4, 4] written
#
# kernel columns  #
#   launch grid [1, 1, 1] block [4, 1, 1]
#   array X: float32, 128 elements, global read param 0
#   array Y: float32, 16 elements, global write param 1
#   cost 0 flop, 576 bytes; accesses proved
#   for j from 0, 4 times:
#     Y[(threadIdx.x * 4) + j] = X[((j * 8) + threadIdx.x) + 3]
