# test: lower
# target: gpu
# Nothing bounds this index, so the kernel is one that the driver checks.

@T.prim_func
def pick(X: T.Buffer((8,), "float32"), Y: T.Buffer((8,), "float32")):
    for t in T.thread_binding(T.int64(8), "threadIdx.x"):
        with T.block("Y"):
            vi = T.axis.spatial(T.int64(8), t)
            Y[vi] = X[T.Cast("int64", T.floor(T.Cast("float32", vi) * T.float32(0.5)))]

# expect-listing:
# func pick()
#   param 0 X: float32[8]
#   param 1 Y: float32[8] written
#
# kernel pick  # Y
#   launch grid [1, 1, 1] block [8, 1, 1]
#   array X: float32, 8 elements, global read param 0
#   array Y: float32, 8 elements, global write param 1
#   cost 16 flop, 64 bytes; accesses checked
#   Y[threadIdx.x] = X[int32(floor(float32(threadIdx.x) * 0.5))]
