# test: lower
# target: gpu
# Threads wait for a tile in shared memory to be whole, and again before the next one overwrites it.

@T.prim_func
def mirror(X: T.Buffer((4, 64), "float32"), Y: T.Buffer((4, 64), "float32")):
    S = T.alloc_buffer((4, 64), "float32", scope="shared")
    for b in T.thread_binding(1, "blockIdx.x"):
        for i in range(4):
            for t in T.thread_binding(64, "threadIdx.x"):
                with T.block("S"):
                    vi, vj = T.axis.remap("SS", [i, t])
                    S[vi, vj] = X[vi, vj]
            for t in T.thread_binding(64, "threadIdx.x"):
                with T.block("Y"):
                    vi, vj = T.axis.remap("SS", [i, t])
                    Y[vi, vj] = S[vi, 63 - vj]

# expect-listing:
# func mirror()
#   param 0 X: float32[4, 64]
#   param 1 Y: float32[4, 64] written
#
# kernel mirror  # S, Y
#   launch grid [1, 1, 1] block [64, 1, 1]
#   array X: float32, 256 elements, global read param 0
#   array Y: float32, 256 elements, global write param 1
#   array S: float32, 64 elements, shared
#   cost 0 flop, 2048 bytes; accesses proved
#   for i from 0, 4 times:
#     barrier
#     S[threadIdx.x] = X[(i * 64) + threadIdx.x]
#     barrier
#     Y[(i * 64) + threadIdx.x] = S[(threadIdx.x * -1) + 63]
