# test: lower
# target: gpu
# Each thread adds up its share; the workgroup halves the array of shares.

@T.prim_func
def row_sums(X: T.Buffer((5, 64), "float32"), Y: T.Buffer((5,), "float32")):
    for i in T.thread_binding(5, "blockIdx.x"):
        for ko in range(8):
            for ki in T.thread_binding(8, "threadIdx.x"):
                with T.block("Y"):
                    vi = T.axis.spatial(5, i)
                    vk = T.axis.reduce(64, ko * 8 + ki)
                    with T.init():
                        Y[vi] = T.float32(0)
                    Y[vi] = Y[vi] + X[vi, vk]

# expect-listing:
# func row_sums()
#   param 0 X: float32[5, 64]
#   param 1 Y: float32[5] written
#
# kernel row_sums  # Y
#   launch grid [5, 1, 1] block [8, 1, 1]
#   array X: float32, 320 elements, global read param 0
#   array Y: float32, 5 elements, global write param 1
#   array Y_part: float32, 1 elements, local
#   array Y_parts: float32, 8 elements, shared
#   cost 320 flop, 1300 bytes; accesses proved
#   Y_part[0] = 0.0
#   for ko from 0, 8 times:
#     Y_part[0] = Y_part[0] + X[((blockIdx.x * 64) + (ko * 8)) + threadIdx.x]
#   Y_parts[threadIdx.x] = Y_part[0]
#   barrier
#   if threadIdx.x == 0:
#     Y[blockIdx.x] = ((Y_parts[0] + Y_parts[4]) + (Y_parts[2] + Y_parts[6])) + ((Y_parts[1] + Y_parts[5]) + (Y_parts[3] + Y_parts[7]))
