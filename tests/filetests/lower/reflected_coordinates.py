# test: lower
# target: gpu
# A coordinate less the multiples of a number in it is near to 0, however far away the coordinate is.

@T.prim_func
def main(G: T.Buffer((8,), "float32"), X: T.Buffer((9,), "float32"), Y: T.Buffer((8,), "float32")):
    for t in T.thread_binding(8, "threadIdx.x"):
        with T.block("Y"):
            v = T.axis.spatial(8, t)
            Y[v] = X[T.max(T.min(T.Select(T.Cast("int64", T.floor(G[v])) <= T.int64(0), T.int64(0) - T.Cast("int64", T.floor(G[v])), T.Cast("int64", T.floor(G[v]))) - T.Div(T.Select(T.Cast("int64", T.floor(G[v])) <= T.int64(0), T.int64(0) - T.Cast("int64", T.floor(G[v])), T.Cast("int64", T.floor(G[v]))), T.int64(5)) * T.int64(5), T.int64(8)), T.int64(0))]

# expect-listing:
# func main()
#   param 0 G: float32[8]
#   param 1 X: float32[9]
#   param 2 Y: float32[8] written
#
# kernel main  # Y
#   launch grid [1, 1, 1] block [8, 1, 1]
#   array G: float32, 8 elements, global read param 0
#   array X: float32, 9 elements, global read param 1
#   array Y: float32, 8 elements, global write param 2
#   cost 48 flop, 100 bytes; accesses proved
#   let common.0 = floor(G[threadIdx.x])
#   let common.1 = int32(common.0)
#   let common.2 = select(int64(common.0) <= 0, 0 - max(min(common.1, 1073676288), -1073676288), common.1)
#   Y[threadIdx.x] = X[max(min((common.2 - ((common.2 / 5) * 5)), 8), 0)]
