# test: lower
# target: gpu
# run: until check_limits
# The device has 16384 bytes of shared memory and 8 storage buffers. A kernel may use all of them.

@T.prim_func
def most(A: T.Buffer((64,), "float32"), B: T.Buffer((64,), "float32"), C: T.Buffer((64,), "float32"), D: T.Buffer((64,), "float32"), E: T.Buffer((64,), "float32"), F: T.Buffer((64,), "float32"), G: T.Buffer((64,), "float32"), Y: T.Buffer((4096,), "float32")):
    S = T.alloc_buffer((4096,), "float32", scope="shared")
    for t in T.thread_binding(64, "threadIdx.x"):
        for k in range(64):
            with T.block("S"):
                vk, vt = T.axis.remap("SS", [k, t])
                S[vk * 64 + vt] = A[vt] + B[vt] + C[vt] + D[vt] + E[vt] + F[vt] + G[vt]
        for k in range(64):
            with T.block("Y"):
                vk, vt = T.axis.remap("SS", [k, t])
                Y[vk * 64 + vt] = S[4095 - (vk * 64 + vt)]
# expect-listing:
# after check_limits:
# kernel most  # S, Y
#   launch grid [1, 1, 1] block [64, 1, 1]
#   array A: float32, 64 elements, global read param 0
#   array B: float32, 64 elements, global read param 1
#   array C: float32, 64 elements, global read param 2
#   array D: float32, 64 elements, global read param 3
#   array E: float32, 64 elements, global read param 4
#   array F: float32, 64 elements, global read param 5
#   array G: float32, 64 elements, global read param 6
#   array Y: float32, 4096 elements, global write param 7
#   array S: float32, 4096 elements, shared
#   cost 24576 flop, 18176 bytes; accesses proved
#   for k.0 from 0, 64 times:
#     S[(k.0 * 64) + threadIdx.x] = (((((A[threadIdx.x] + B[threadIdx.x]) + C[threadIdx.x]) + D[threadIdx.x]) + E[threadIdx.x]) + F[threadIdx.x]) + G[threadIdx.x]
#   for k.1 from 0, 64 times:
#     Y[(k.1 * 64) + threadIdx.x] = S[((k.1 * -64) - threadIdx.x) + 4095]
