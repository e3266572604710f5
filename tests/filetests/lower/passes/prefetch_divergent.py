# test: lower
# target: gpu
# run: until prefetch, insert_barriers
# Threads run through the loop a different number of times, and read another array than the one that they copy to: no barrier may
# stand in it, so nothing is loaded ahead.

@T.prim_func
def apart(X: T.Buffer((64, 64), "float32"), Y: T.Buffer((64,), "float32"), Z: T.Buffer((64,), "float32")):
    S = T.alloc_buffer((64,), "float32", scope="shared")
    R = T.alloc_buffer((64,), "float32", scope="shared")
    for b in T.thread_binding(1, "blockIdx.x"):
        for t in T.thread_binding(64, "threadIdx.x"):
            with T.block("R"):
                v = T.axis.spatial(64, t)
                R[v] = Z[v]
        for t in T.thread_binding(64, "threadIdx.x"):
            for k in T.serial(t, annotations={"software_pipeline_stage": [0, 1]}):
                with T.block("S"):
                    v, vk = T.axis.remap("SS", [t, k])
                    S[v] = X[vk, v]
                with T.block("Y"):
                    v, vk = T.axis.remap("SS", [t, k])
                    Y[v] = R[v]
# expect-listing:
# after prefetch:
# kernel apart  # R, S, Y
#   launch grid [1, 1, 1] block [64, 1, 1]
#   array X: float32, 4096 elements, global read param 0
#   array Y: float32, 64 elements, global write param 1
#   array Z: float32, 64 elements, global read param 2
#   array R: float32, 64 elements, shared
#   array S: float32, 64 elements, shared
#   cost 0 flop, 16896 bytes; accesses proved
#   R[threadIdx.x] = Z[threadIdx.x]
#   for k from 0, threadIdx.x times:
#     S[threadIdx.x] = X[(k * 64) + threadIdx.x]
#     Y[threadIdx.x] = R[threadIdx.x]
#
# after insert_barriers:
# kernel apart  # R, S, Y
#   launch grid [1, 1, 1] block [64, 1, 1]
#   array X: float32, 4096 elements, global read param 0
#   array Y: float32, 64 elements, global write param 1
#   array Z: float32, 64 elements, global read param 2
#   array R: float32, 64 elements, shared
#   array S: float32, 64 elements, shared
#   cost 0 flop, 16896 bytes; accesses proved
#   R[threadIdx.x] = Z[threadIdx.x]
#   barrier
#   for k from 0, threadIdx.x times:
#     S[threadIdx.x] = X[(k * 64) + threadIdx.x]
#     Y[threadIdx.x] = R[threadIdx.x]
