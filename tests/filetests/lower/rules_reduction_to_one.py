# test: lower
# target: gpu
# run: default rules
# A sum of all elements, and what is made of it, are one workgroup.

@T.prim_func
def mean(X: T.Buffer((50, 70), "float32"), Y: T.Buffer((), "float32")):
    S = T.alloc_buffer((), "float32")
    for i, j in T.grid(50, 70):
        with T.block("S"):
            vi, vj = T.axis.remap("RR", [i, j])
            with T.init():
                S[()] = T.float32(0)
            S[()] = S[()] + X[vi, vj]
    with T.block("Y"):
        v = T.axis.spatial(1, 0)
        Y[()] = S[()] / T.float32(3500)

# expect-listing:
# func mean()
#   param 0 X: float32[50, 70]
#   param 1 Y: float32[] written
#
# kernel mean  # S, Y
#   launch grid [1, 1, 1] block [256, 1, 1]
#   array X: float32, 3500 elements, global read param 0
#   array Y: float32, 1 elements, global write param 1
#   array S_part: float32, 1 elements, local
#   array S_parts: float32, 256 elements, shared
#   array S: float32, 1 elements, local
#   cost 3501 flop, 14004 bytes; accesses proved
#   S_part[0] = 0.0
#   for ax0_ax1_fused_0 from 0, 13 times:
#     S_part[0] = S_part[0] + X[(ax0_ax1_fused_0 * 256) + threadIdx.x]
#   if threadIdx.x < 172:
#     S_part[0] = S_part[0] + X[threadIdx.x + 3328]
#   S_parts[threadIdx.x] = S_part[0]
#   barrier
#   if threadIdx.x < 128:
#     S_parts[threadIdx.x] = S_parts[threadIdx.x] + S_parts[threadIdx.x + 128]
#   barrier
#   if threadIdx.x < 64:
#     S_parts[threadIdx.x] = S_parts[threadIdx.x] + S_parts[threadIdx.x + 64]
#   barrier
#   if threadIdx.x < 32:
#     S_parts[threadIdx.x] = S_parts[threadIdx.x] + S_parts[threadIdx.x + 32]
#   barrier
#   if threadIdx.x < 16:
#     S_parts[threadIdx.x] = S_parts[threadIdx.x] + S_parts[threadIdx.x + 16]
#   barrier
#   if threadIdx.x < 8:
#     S_parts[threadIdx.x] = S_parts[threadIdx.x] + S_parts[threadIdx.x + 8]
#   barrier
#   S[0] = ((S_parts[0] + S_parts[4]) + (S_parts[2] + S_parts[6])) + ((S_parts[1] + S_parts[5]) + (S_parts[3] + S_parts[7]))
#   if threadIdx.x == 0:
#     Y[0] = S[0] / 3500.0
