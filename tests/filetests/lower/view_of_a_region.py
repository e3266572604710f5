# test: lower
# target: gpu
# The strides and the offset of a view are those of the region that it is of.

@T.prim_func
def rows(X: T.Buffer((16, 8), "float32"), Y: T.Buffer((4, 4), "float32")):
    for t in T.thread_binding(4, "threadIdx.x"):
        for j in range(4):
            with T.block("Y"):
                vi, vj = T.axis.remap("SS", [t, j])
                T.reads(X[4 + vi, 2:6])
                T.writes(Y[vi, vj])
                s = T.int32()
                o = T.int32()
                A = T.match_buffer(X[4 + vi, 2:6], (4,), strides=(s,), elem_offset=o)
                Y[vi, vj] = A[vj] + T.Cast("float32", o)

# expect-listing:
# func rows()
#   param 0 X: float32[16, 8]
#   param 1 Y: float32[4, 4] written
#
# kernel rows  # Y
#   launch grid [1, 1, 1] block [4, 1, 1]
#   array X: float32, 128 elements, global read param 0
#   array Y: float32, 16 elements, global write param 1
#   cost 16 flop, 576 bytes; accesses proved
#   for j from 0, 4 times:
#     Y[(threadIdx.x * 4) + j] = X[((threadIdx.x * 8) + j) + 34] + float32((threadIdx.x * 8) + 34)
