# test: lower
# target: gpu
# run: until prefetch, insert_barriers
# A call decides how often the loop runs, and threads past the row copy nothing: a branch says whether there is a next iteration.

@T.prim_func
def rows(x: T.handle, Y: T.Buffer((64,), "float32")):
    n = T.int64()
    X = T.match_buffer(x, (n, 48), "float32")
    S = T.alloc_buffer((64,), "float32", scope="shared")
    for t in T.thread_binding(64, "threadIdx.x"):
        with T.block("init"):
            v = T.axis.spatial(64, t)
            Y[v] = T.float32(0)
    for b in T.thread_binding(1, "blockIdx.x"):
        for k in T.serial(n, annotations={"software_pipeline_stage": [0, 1]}):
            for t in T.thread_binding(64, "threadIdx.x"):
                with T.block("S"):
                    T.where(t < 48)
                    vk, v = T.axis.remap("SS", [k, t])
                    S[v] = X[vk, v] * T.float32(2)
            for t in T.thread_binding(64, "threadIdx.x"):
                with T.block("Y"):
                    v, vk = T.axis.remap("SR", [t, k])
                    Y[v] = Y[v] + S[v // 2]
# expect-listing:
# after prefetch:
# kernel rows_0  # init
#   launch grid [1, 1, 1] block [64, 1, 1]
#   array Y: float32, 64 elements, global write param 1
#   cost 0 flop, 256 bytes; accesses proved
#   Y[threadIdx.x] = 0.0
# kernel rows_1  # S, Y
#   launch grid [1, 1, 1] block [64, 1, 1]
#   scalar n: int32 = n
#   array X: float32, n * 48 elements, global read param 0
#   array Y: float32, 64 elements, global read write param 1
#   array S: float32, 64 elements, shared
#   array next: float32, 1 elements, local
#   cost 0 + ((n * 64) + (64 * n)) flop, (0 + ((n * 48) * 4)) + 512 bytes; accesses proved
#   if 0 < n:
#     if threadIdx.x < 48:
#       next[0] = X[(0 * 48) + threadIdx.x] * 2.0
#   for k from 0, n times:
#     if threadIdx.x < 48:
#       S[threadIdx.x] = next[0]
#     barrier
#     if (k + 1) < n:
#       if threadIdx.x < 48:
#         next[0] = X[((k + 1) * 48) + threadIdx.x] * 2.0
#     Y[threadIdx.x] = Y[threadIdx.x] + S[threadIdx.x >> 1]
#
# after insert_barriers:
# kernel rows_0  # init
#   launch grid [1, 1, 1] block [64, 1, 1]
#   array Y: float32, 64 elements, global write param 1
#   cost 0 flop, 256 bytes; accesses proved
#   Y[threadIdx.x] = 0.0
# kernel rows_1  # S, Y
#   launch grid [1, 1, 1] block [64, 1, 1]
#   scalar n: int32 = n
#   array X: float32, n * 48 elements, global read param 0
#   array Y: float32, 64 elements, global read write param 1
#   array S: float32, 64 elements, shared
#   array next: float32, 1 elements, local
#   cost 0 + ((n * 64) + (64 * n)) flop, (0 + ((n * 48) * 4)) + 512 bytes; accesses proved
#   if 0 < n:
#     if threadIdx.x < 48:
#       next[0] = X[(0 * 48) + threadIdx.x] * 2.0
#   for k from 0, n times:
#     barrier
#     if threadIdx.x < 48:
#       S[threadIdx.x] = next[0]
#     barrier
#     if (k + 1) < n:
#       if threadIdx.x < 48:
#         next[0] = X[((k + 1) * 48) + threadIdx.x] * 2.0
#     Y[threadIdx.x] = Y[threadIdx.x] + S[threadIdx.x >> 1]
