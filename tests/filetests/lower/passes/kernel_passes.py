# test: lower
# target: gpu
# run: until emit, hoist_loads, insert_barriers
# The sum of the row is read once, and threads meet between store and load.

@T.prim_func
def normalized(X: T.Buffer((8, 64), "float32"), Y: T.Buffer((8, 64), "float32")):
    S = T.alloc_buffer((8,), scope="shared")
    for i in T.thread_binding(8, "blockIdx.x"):
        for tx in T.thread_binding(16, "threadIdx.x"):
            with T.block("S"):
                vi = T.axis.spatial(8, i)
                T.where(tx < 1)
                S[vi] = X[vi, 0] + X[vi, 1]
        for tx in T.thread_binding(16, "threadIdx.x"):
            for k in range(4):
                with T.block("Y"):
                    vi = T.axis.spatial(8, i)
                    vj = T.axis.spatial(64, k * 16 + tx)
                    Y[vi, vj] = (X[vi, vj] - S[vi]) * (X[vi, vj] - S[vi])
# expect-listing:
# after emit:
# kernel normalized  # S, Y
#   launch grid [8, 1, 1] block [16, 1, 1]
#   array X: float32, 512 elements, global read param 0
#   array Y: float32, 512 elements, global write param 1
#   array S: float32, 1 elements, shared
#   cost 1544 flop, 4096 bytes; accesses proved
#   if threadIdx.x < 1:
#     S[0] = X[blockIdx.x * 64] + X[(blockIdx.x * 64) + 1]
#   for k from 0, 4 times:
#     Y[((blockIdx.x * 64) + (k * 16)) + threadIdx.x] = (X[((blockIdx.x * 64) + (k * 16)) + threadIdx.x] - S[0]) * (X[((blockIdx.x * 64) + (k * 16)) + threadIdx.x] - S[0])
#
# after hoist_loads:
# kernel normalized  # S, Y
#   launch grid [8, 1, 1] block [16, 1, 1]
#   array X: float32, 512 elements, global read param 0
#   array Y: float32, 512 elements, global write param 1
#   array S: float32, 1 elements, shared
#   cost 1544 flop, 4096 bytes; accesses proved
#   if threadIdx.x < 1:
#     S[0] = X[blockIdx.x * 64] + X[(blockIdx.x * 64) + 1]
#   let S = S[0]
#   for k from 0, 4 times:
#     Y[((blockIdx.x * 64) + (k * 16)) + threadIdx.x] = (X[((blockIdx.x * 64) + (k * 16)) + threadIdx.x] - S) * (X[((blockIdx.x * 64) + (k * 16)) + threadIdx.x] - S)
#
# after insert_barriers:
# kernel normalized  # S, Y
#   launch grid [8, 1, 1] block [16, 1, 1]
#   array X: float32, 512 elements, global read param 0
#   array Y: float32, 512 elements, global write param 1
#   array S: float32, 1 elements, shared
#   cost 1544 flop, 4096 bytes; accesses proved
#   if threadIdx.x < 1:
#     S[0] = X[blockIdx.x * 64] + X[(blockIdx.x * 64) + 1]
#   barrier
#   let S = S[0]
#   for k from 0, 4 times:
#     let common = X[((blockIdx.x * 64) + (k * 16)) + threadIdx.x] - S
#     Y[((blockIdx.x * 64) + (k * 16)) + threadIdx.x] = common * common
