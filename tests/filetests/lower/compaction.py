# test: lower
# target: gpu
# A temporary that one thread uses shrinks to the elements that it uses at a time.

@T.prim_func
def twice(X: T.Buffer((64, 8), "float32"), Y: T.Buffer((64, 8), "float32")):
    S = T.alloc_buffer((64, 8), "float32")
    for t in T.thread_binding(64, "threadIdx.x"):
        for j in range(8):
            with T.block("S"):
                vi, vj = T.axis.remap("SS", [t, j])
                S[vi, vj] = T.exp(X[vi, vj])
        for j in range(8):
            with T.block("Y"):
                vi, vj = T.axis.remap("SS", [t, j])
                Y[vi, vj] = S[vi, 7 - vj] + S[vi, vj]

# expect-listing:
# func twice()
#   param 0 X: float32[64, 8]
#   param 1 Y: float32[64, 8] written
#
# kernel twice  # S, Y
#   launch grid [1, 1, 1] block [64, 1, 1]
#   array X: float32, 512 elements, global read param 0
#   array Y: float32, 512 elements, global write param 1
#   array S: float32, 8 elements, local
#   cost 1024 flop, 4096 bytes; accesses proved
#   for j.0 from 0, 8 times:
#     S[j.0] = exp(X[(threadIdx.x * 8) + j.0])
#   for j.1 from 0, 8 times:
#     Y[(threadIdx.x * 8) + j.1] = S[(j.1 * -1) + 7] + S[j.1]
