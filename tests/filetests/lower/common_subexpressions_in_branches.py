# test: lower
# target: gpu
# Branches that only store compute their common index before the first of them. What they load stays under their conditions,
# and has a name there if it repeats.

@T.prim_func
def main(x: T.handle, y: T.handle):
    n, m, k = T.int64(), T.int64(), T.int64()
    X = T.match_buffer(x, (n, m, k), "float32")
    Y = T.match_buffer(y, (m, n, k), "float32")
    for b in T.thread_binding((n * m + 63) // 64, "blockIdx.x"):
        for t in T.thread_binding(64, "threadIdx.x"):
            for i in T.unroll(2):
                with T.block("Y"):
                    vn = T.axis.spatial(n, (b * 64 + t) // m)
                    vm = T.axis.spatial(m, (b * 64 + t) % m)
                    vi = T.axis.spatial(k, i)
                    T.where(b * 64 + t < n * m and i < k)
                    Y[vm, vn, vi] = X[vn, vm, 0] + X[vn, vm, vi]

# expect-listing:
# func main(n, m, k)
#   param 0 x: float32[n, m, k]
#   param 1 y: float32[m, n, k] written
#   requires ((((((n * m) + 63) // 64) + -1) * 64) + 63) <= 2147483647 (`(blockIdx.x * 64) + threadIdx.x` in int32, in which GPUs compute indices)
#   requires max((n * m), (n * m)) <= 2147483647 (`n * m` in int32, in which GPUs compute indices)
#   requires (-1 - min((n * m), (n * m))) <= 2147483647 (`n * m` in int32, in which GPUs compute indices)
#   requires ((n * m) * k) <= 2147483647 (index into X fits i32)
#   requires ((m * n) * k) <= 2147483647 (index into Y fits i32)
#
# kernel main  # Y
#   launch grid [((n * m) + 63) // 64, 1, 1] block [64, 1, 1]
#   scalar n: int32 = n
#   scalar m: int32 = m
#   scalar k: int32 = k
#   array X: float32, (n * m) * k elements, global read param 0
#   array Y: float32, (m * n) * k elements, global write param 1
#   cost 0 + ((n * m) * k) flop, (0 + (((n * m) * k) * 4)) + (((m * n) * k) * 4) bytes; accesses proved
#   let common.3 = ((int32(uint32((blockIdx.x * 64) + threadIdx.x) rem uint32(m)) * n) * k) + (int32(uint32((blockIdx.x * 64) + threadIdx.x) / uint32(m)) * k)
#   if (((blockIdx.x * 64) + threadIdx.x) < (n * m)) and (1 <= k):
#     let common.4 = X[((blockIdx.x * 64) + threadIdx.x) * k]
#     Y[common.3] = common.4 + common.4
#   if (((blockIdx.x * 64) + threadIdx.x) < (n * m)) and (2 <= k):
#     Y[common.3 + 1] = X[((blockIdx.x * 64) + threadIdx.x) * k] + X[(((blockIdx.x * 64) + threadIdx.x) * k) + 1]
