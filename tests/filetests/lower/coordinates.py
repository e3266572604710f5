# test: lower
# target: gpu
# An index that is computed in floats is bounded by its clamp.

@T.prim_func
def resize(X: T.Buffer((8,), "float32"), Y: T.Buffer((12,), "float32")):
    for t in T.thread_binding(T.int64(12), "threadIdx.x"):
        with T.block("Y"):
            vi = T.axis.spatial(T.int64(12), t)
            Y[vi] = X[T.max(T.min(T.Cast("int64", T.floor((T.Cast("float32", vi) + T.float32(0.5)) * T.float32(0.6666667) - T.float32(0.5))) - T.int64(1), T.int64(7)), T.int64(0))]

# expect-listing:
# func resize()
#   param 0 X: float32[8]
#   param 1 Y: float32[12] written
#
# kernel resize  # Y
#   launch grid [1, 1, 1] block [12, 1, 1]
#   array X: float32, 8 elements, global read param 0
#   array Y: float32, 12 elements, global write param 1
#   cost 48 flop, 80 bytes; accesses proved
#   Y[threadIdx.x] = X[max(min((max(min(int32(floor(((float32(threadIdx.x) + 0.5) * 0.6666666865348816) - 0.5)), 1073676288), -1073676288) - 1), 7), 0)]
