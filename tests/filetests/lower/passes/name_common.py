# test: lower
# target: gpu
# run: until shorten_loops, name_common
# A value that is computed several times gets a name. A store to X changes the loads of X, so the name is not used after the store. The
# load of W stays in the branch, because the condition may guard the load.

@T.prim_func
def scaled(X: T.Buffer((64,), "float32"), W: T.Buffer((64,), "float32"), Y: T.Buffer((64,), "float32"), Z: T.Buffer((64,), "float32")):
    for t in T.thread_binding(64, "threadIdx.x"):
        Y[t] = T.exp(X[t] * T.float32(2) + T.float32(1)) + T.float32(3)
        Z[t] = T.exp(X[t] * T.float32(2) + T.float32(1)) + T.float32(4)
        X[t] = T.exp(X[t] * T.float32(2) + T.float32(1)) + T.float32(5)
        Z[t] = Z[t] + T.exp(X[t] * T.float32(2) + T.float32(1))
        if Z[t] < T.float32(9):
            Y[t] = Y[t] + T.exp(W[t] * T.float32(2) + T.float32(1))
            Z[t] = T.exp(W[t] * T.float32(2) + T.float32(1)) * T.float32(6)
# expect-listing:
# after shorten_loops:
# kernel scaled  #
#   launch grid [1, 1, 1] block [64, 1, 1]
#   array X: float32, 64 elements, global read write param 0
#   array W: float32, 64 elements, global read param 1
#   array Y: float32, 64 elements, global read write param 2
#   array Z: float32, 64 elements, global read write param 3
#   cost 1600 flop, 1792 bytes; accesses proved
#   Y[threadIdx.x] = exp((X[threadIdx.x] * 2.0) + 1.0) + 3.0
#   Z[threadIdx.x] = exp((X[threadIdx.x] * 2.0) + 1.0) + 4.0
#   X[threadIdx.x] = exp((X[threadIdx.x] * 2.0) + 1.0) + 5.0
#   Z[threadIdx.x] = Z[threadIdx.x] + exp((X[threadIdx.x] * 2.0) + 1.0)
#   if Z[threadIdx.x] < 9.0:
#     Y[threadIdx.x] = Y[threadIdx.x] + exp((W[threadIdx.x] * 2.0) + 1.0)
#     Z[threadIdx.x] = exp((W[threadIdx.x] * 2.0) + 1.0) * 6.0
#
# after name_common:
# kernel scaled  #
#   launch grid [1, 1, 1] block [64, 1, 1]
#   array X: float32, 64 elements, global read write param 0
#   array W: float32, 64 elements, global read param 1
#   array Y: float32, 64 elements, global read write param 2
#   array Z: float32, 64 elements, global read write param 3
#   cost 1600 flop, 1792 bytes; accesses proved
#   let common.0 = exp((X[threadIdx.x] * 2.0) + 1.0)
#   Y[threadIdx.x] = common.0 + 3.0
#   Z[threadIdx.x] = common.0 + 4.0
#   X[threadIdx.x] = common.0 + 5.0
#   Z[threadIdx.x] = Z[threadIdx.x] + exp((X[threadIdx.x] * 2.0) + 1.0)
#   if Z[threadIdx.x] < 9.0:
#     let common.1 = exp((W[threadIdx.x] * 2.0) + 1.0)
#     Y[threadIdx.x] = Y[threadIdx.x] + common.1
#     Z[threadIdx.x] = common.1 * 6.0
