# test: lower
# target: gpu
# run: until prefetch, insert_barriers
# A loop of a known number of iterations whose copies are of an earlier stage than what computes: the last one loads again what it has.

@T.prim_func
def known(X: T.Buffer((8, 64), "float32"), Y: T.Buffer((64,), "float32")):
    S = T.alloc_buffer((64,), "float32", scope="shared")
    for t in T.thread_binding(64, "threadIdx.x"):
        with T.block("init"):
            v = T.axis.spatial(64, t)
            Y[v] = T.float32(0)
    for b in T.thread_binding(1, "blockIdx.x"):
        for k in T.serial(8, annotations={"software_pipeline_stage": [0, 1]}):
            for t in T.thread_binding(64, "threadIdx.x"):
                with T.block("S"):
                    vk, v = T.axis.remap("SS", [k, t])
                    S[v] = X[vk, v]
            for t in T.thread_binding(64, "threadIdx.x"):
                with T.block("Y"):
                    v, vk = T.axis.remap("SR", [t, k])
                    Y[v] = Y[v] + S[63 - v]
# expect-listing:
# after prefetch:
# kernel known_0  # init
#   launch grid [1, 1, 1] block [64, 1, 1]
#   array Y: float32, 64 elements, global write param 1
#   cost 0 flop, 256 bytes; accesses proved
#   Y[threadIdx.x] = 0.0
# kernel known_1  # S, Y
#   launch grid [1, 1, 1] block [64, 1, 1]
#   array X: float32, 512 elements, global read param 0
#   array Y: float32, 64 elements, global read write param 1
#   array S: float32, 64 elements, shared
#   array next: float32, 1 elements, local
#   cost 512 flop, 2560 bytes; accesses proved
#   next[0] = X[(0 * 64) + threadIdx.x]
#   for k.0 from 0, 8 times:
#     S[threadIdx.x] = next[0]
#     barrier
#     let k.1 = min((k.0 + 1), 7)
#     next[0] = X[(k.1 * 64) + threadIdx.x]
#     Y[threadIdx.x] = Y[threadIdx.x] + S[(threadIdx.x * -1) + 63]
#
# after insert_barriers:
# kernel known_0  # init
#   launch grid [1, 1, 1] block [64, 1, 1]
#   array Y: float32, 64 elements, global write param 1
#   cost 0 flop, 256 bytes; accesses proved
#   Y[threadIdx.x] = 0.0
# kernel known_1  # S, Y
#   launch grid [1, 1, 1] block [64, 1, 1]
#   array X: float32, 512 elements, global read param 0
#   array Y: float32, 64 elements, global read write param 1
#   array S: float32, 64 elements, shared
#   array next: float32, 1 elements, local
#   cost 512 flop, 2560 bytes; accesses proved
#   next[0] = X[(0 * 64) + threadIdx.x]
#   for k.0 from 0, 8 times:
#     barrier
#     S[threadIdx.x] = next[0]
#     barrier
#     let k.1 = min((k.0 + 1), 7)
#     next[0] = X[(k.1 * 64) + threadIdx.x]
#     Y[threadIdx.x] = Y[threadIdx.x] + S[(threadIdx.x * -1) + 63]
