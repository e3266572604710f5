# test: lower
# target: gpu
# run: until emit, bound_loops
# On a GPU a schedule says what is in registers: no pass moves the sum out of memory, which other threads might read.

@T.prim_func
def sums(X: T.Buffer((64, 32), "float32"), Y: T.Buffer((64,), "float32")):
    for i in T.thread_binding(64, "threadIdx.x"):
        Y[i] = T.float32(0)
        for k in range(32):
            Y[i] = Y[i] + X[i, k]
# expect-listing:
# after emit:
# kernel sums  #
#   launch grid [1, 1, 1] block [64, 1, 1]
#   array X: float32, 2048 elements, global read param 0
#   array Y: float32, 64 elements, global read write param 1
#   cost 2048 flop, 8704 bytes; accesses proved
#   Y[threadIdx.x] = 0.0
#   for k from 0, 32 times:
#     Y[threadIdx.x] = Y[threadIdx.x] + X[(threadIdx.x * 32) + k]
#
# after bound_loops:
# kernel sums  #
#   launch grid [1, 1, 1] block [64, 1, 1]
#   array X: float32, 2048 elements, global read param 0
#   array Y: float32, 64 elements, global read write param 1
#   cost 2048 flop, 8704 bytes; accesses proved
#   Y[threadIdx.x] = 0.0
#   for k from 0, 32 times:
#     Y[threadIdx.x] = Y[threadIdx.x] + X[(threadIdx.x * 32) + k]
