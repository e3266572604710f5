# test: lower
# target: gpu
# What is written several times is computed once.

@T.prim_func
def main(X: T.Buffer((64,), "float32"), Y: T.Buffer((64,), "float32")):
    for t in T.thread_binding(64, "threadIdx.x"):
        with T.block("Y"):
            v = T.axis.spatial(64, t)
            Y[v] = T.exp(T.sin((X[v] * T.float32(2) + T.float32(1)) * (X[v] * T.float32(3) - T.float32(2)))) * (T.sin((X[v] * T.float32(2) + T.float32(1)) * (X[v] * T.float32(3) - T.float32(2))) + T.exp(T.sin((X[v] * T.float32(2) + T.float32(1)) * (X[v] * T.float32(3) - T.float32(2))))) + T.exp(T.sin((X[v] * T.float32(2) + T.float32(1)) * (X[v] * T.float32(3) - T.float32(2)))) / (T.sin((X[v] * T.float32(2) + T.float32(1)) * (X[v] * T.float32(3) - T.float32(2))) * T.sin((X[v] * T.float32(2) + T.float32(1)) * (X[v] * T.float32(3) - T.float32(2))) + T.float32(5))

# expect-listing:
# func main()
#   param 0 X: float32[64]
#   param 1 Y: float32[64] written
#
# kernel main  # Y
#   launch grid [1, 1, 1] block [64, 1, 1]
#   array X: float32, 64 elements, global read param 0
#   array Y: float32, 64 elements, global write param 1
#   cost 2880 flop, 512 bytes; accesses proved
#   let common.0 = X[threadIdx.x]
#   let common.1 = sin(((common.0 * 2.0) + 1.0) * ((common.0 * 3.0) - 2.0))
#   let common.2 = exp(common.1)
#   Y[threadIdx.x] = (common.2 * (common.1 + common.2)) + (common.2 / ((common.1 * common.1) + 5.0))
