# test: lower
# target: lavapipe
# run: until hoist_loads, shorten_loops
# A loop of more iterations than the device runs has several of them in each pass.

@T.prim_func
def last(X: T.Buffer((4, 200000), "float32"), Y: T.Buffer((4,), "float32")):
    for t in T.thread_binding(4, "threadIdx.x"):
        for k in range(200000):
            Y[t] = X[t, k]
# expect-listing:
# after hoist_loads:
# kernel last  #
#   launch grid [1, 1, 1] block [4, 1, 1]
#   array X: float32, 800000 elements, global read param 0
#   array Y: float32, 4 elements, global write param 1
#   cost 0 flop, 3200016 bytes; accesses proved
#   for k from 0, 200000 times:
#     Y[threadIdx.x] = X[(threadIdx.x * 200000) + k]
#
# after shorten_loops:
# kernel last  #
#   launch grid [1, 1, 1] block [4, 1, 1]
#   array X: float32, 800000 elements, global read param 0
#   array Y: float32, 4 elements, global write param 1
#   cost 0 flop, 3200016 bytes; accesses proved
#   for k.1 from 0, 50000 times:
#     Y[threadIdx.x] = X[(threadIdx.x * 200000) + (k.1 * 4)]
#     Y[threadIdx.x] = X[(threadIdx.x * 200000) + ((k.1 * 4) + 1)]
#     Y[threadIdx.x] = X[(threadIdx.x * 200000) + ((k.1 * 4) + 2)]
#     Y[threadIdx.x] = X[(threadIdx.x * 200000) + ((k.1 * 4) + 3)]
