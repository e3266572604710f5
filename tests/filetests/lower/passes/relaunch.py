# test: lower
# target: lavapipe
# run: until shorten_loops, relaunch
# What is still too long is spread over launches.

@T.prim_func
def sums(X: T.Buffer((4, 5000000), "float32"), Y: T.Buffer((4,), "float32")):
    for t in T.thread_binding(4, "threadIdx.x"):
        for k in range(5000000):
            with T.block("Y"):
                vt = T.axis.spatial(4, t)
                vk = T.axis.reduce(5000000, k)
                with T.init():
                    Y[vt] = T.float32(0)
                Y[vt] = Y[vt] + X[vt, vk]
# expect-listing:
# after shorten_loops:
# kernel sums  # Y
#   launch grid [1, 1, 1] block [4, 1, 1]
#   array X: float32, 20000000 elements, global read param 0
#   array Y: float32, 4 elements, global read write param 1
#   cost 20000000 flop, 80000032 bytes; accesses proved
#   for k.0 from 0, 5000000 times:
#     if k.0 == 0:
#       Y[threadIdx.x] = 0.0
#     Y[threadIdx.x] = Y[threadIdx.x] + X[(threadIdx.x * 5000000) + k.0]
#
# after relaunch:
# kernel sums  # Y
#   launch grid [1, 1, 1] block [4, 1, 1]
#   runs 77
#   scalar run: int32 = dim0
#   array X: float32, 20000000 elements, global read param 0
#   array Y: float32, 4 elements, global read write param 1
#   cost 20000000 flop, 80000032 bytes; accesses proved
#   for k.0 from run * 65533, min((5000000 - (run * 65533)), 65533) times:
#     if k.0 == 0:
#       Y[threadIdx.x] = 0.0
#     Y[threadIdx.x] = Y[threadIdx.x] + X[(threadIdx.x * 5000000) + k.0]
