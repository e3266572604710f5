# test: lower
# target: gpu
# Every thread combines the last values for itself, so that no barrier stands before the statement that reads the sum.

@T.prim_func
def row_means(X: T.Buffer((5, 8), "float32"), Y: T.Buffer((5,), "float32")):
    S = T.alloc_buffer((5,), "float32")
    for i in T.thread_binding(5, "blockIdx.x"):
        for k in T.thread_binding(8, "threadIdx.x"):
            with T.block("S"):
                vi, vk = T.axis.remap("SR", [i, k])
                with T.init():
                    S[vi] = T.float32(0)
                S[vi] = S[vi] + X[vi, vk]
        with T.block("Y"):
            vi = T.axis.spatial(5, i)
            Y[vi] = S[vi] / T.float32(8)

# expect-listing:
# func row_means()
#   param 0 X: float32[5, 8]
#   param 1 Y: float32[5] written
#
# kernel row_means  # S, Y
#   launch grid [5, 1, 1] block [8, 1, 1]
#   array X: float32, 40 elements, global read param 0
#   array Y: float32, 5 elements, global write param 1
#   array S_part: float32, 1 elements, local
#   array S_parts: float32, 8 elements, shared
#   array S: float32, 1 elements, local
#   cost 45 flop, 180 bytes; accesses proved
#   S_part[0] = 0.0
#   S_part[0] = S_part[0] + X[(blockIdx.x * 8) + threadIdx.x]
#   S_parts[threadIdx.x] = S_part[0]
#   barrier
#   S[0] = ((S_parts[0] + S_parts[4]) + (S_parts[2] + S_parts[6])) + ((S_parts[1] + S_parts[5]) + (S_parts[3] + S_parts[7]))
#   if threadIdx.x == 0:
#     Y[blockIdx.x] = S[0] / 8.0
