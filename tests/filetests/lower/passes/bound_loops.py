# test: lower
# target: lavapipe
# lavapipe ends every loop after 65535 iterations, and a call decides the length of the loops here. The threads of the first kernel
# hold 17 elements, which is too much to keep between launches: a launch checks the number of iterations. The second kernel is launched
# several times: a launch checks the number of launches.

@T.prim_func
def sums(x: T.handle, Y: T.Buffer((8,), "float32"), Z: T.Buffer((8,), "float32")):
    n = T.int64()
    X = T.match_buffer(x, (n, 17), "float32")
    L = T.alloc_buffer((17,), "float32", scope="local")
    for t in T.thread_binding(8, "threadIdx.x"):
        for k in range(17):
            L[k] = T.float32(0)
        for i in range(n):
            for k in range(17):
                L[k] = L[k] + X[i, k]
        Y[t] = L[t]
    for t in T.thread_binding(8, "threadIdx.x"):
        for i in range(n):
            with T.block("Z"):
                vt, vi = T.axis.remap("SR", [t, i])
                with T.init():
                    Z[vt] = T.float32(0)
                Z[vt] = Z[vt] + X[vi, vt]
# expect-listing:
# func sums(n)
#   param 0 x: float32[n, 17]
#   param 1 Y: float32[8] written
#   param 2 Z: float32[8] written
#   requires (n * 17) <= 2147483647 (index into X fits i32)
#   requires (18 + ((min(max(n, 0), 1048576) * 19) + 2)) <= 65535 (the number of loop iterations of a thread of kernel `sums_0` on this software adapter)
#   requires (((((max(n, 1) + 65532) // 65533) * 1) + -1) + 1) <= 4096 (the number of launches of kernel `sums_1`, whose loops are long for this software adapter)
#
# kernel sums_0  #
#   launch grid [1, 1, 1] block [8, 1, 1]
#   scalar n: int32 = n
#   array X: float32, n * 17 elements, global read param 0
#   array Y: float32, 8 elements, global write param 1
#   array L: float32, 17 elements, local
#   cost 0 + ((8 * n) * 17) flop, (0 + ((n * 17) * 4)) + 32 bytes; accesses proved
#   for k.0 from 0, 17 times:
#     L[k.0] = 0.0
#   for i from 0, n times:
#     for k.3 from 0, 17 times:
#       L[k.3] = L[k.3] + X[(i * 17) + k.3]
#   Y[threadIdx.x] = L[threadIdx.x]
#
# kernel sums_1  # Z
#   launch grid [1, 1, 1] block [8, 1, 1]
#   runs ((((max(n, 1) + 65532) // 65533) * 1) + -1) + 1
#   scalar n: int32 = n
#   scalar run: int32 = dim1
#   scalar launches: int32 = ((max(n, 1) + 65532) // 65533) * 1
#   array X: float32, n * 17 elements, global read param 0
#   array Z: float32, 8 elements, global read write param 2
#   cost 0 + (8 * n) flop, (0 + ((n * 17) * 4)) + 64 bytes; accesses proved
#   if run == 0:
#     if n < 1:
#       Z[threadIdx.x] = 0.0
#   if run < launches:
#     for i from run * 65533, min((n - (run * 65533)), 65533) times:
#       if i == 0:
#         Z[threadIdx.x] = 0.0
#       Z[threadIdx.x] = Z[threadIdx.x] + X[(i * 17) + threadIdx.x]
