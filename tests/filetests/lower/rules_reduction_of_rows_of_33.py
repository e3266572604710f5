# test: lower
# target: gpu
# run: default rules
# Rows that four does not divide are read one by one: four neighbours may lie in two rows.

@T.prim_func
def total(X: T.Buffer((1024, 33), "float32"), Y: T.Buffer((), "float32")):
    for i, j in T.grid(1024, 33):
        with T.block("Y"):
            vi, vj = T.axis.remap("RR", [i, j])
            with T.init():
                Y[()] = T.float32(0)
            Y[()] = Y[()] + X[vi, vj]

# expect-listing:
# func total()
#   param 0 X: float32[1024, 33]
#   param 1 Y: float32[] written
#   temp 0 Y.rf: float32[8]
#
# kernel total_0  # Y_rf
#   launch grid [8, 1, 1] block [256, 1, 1]
#   array X: float32, 33792 elements, global read param 0
#   array Y.rf: float32, 8 elements, global write temp 0
#   array Y_rf_part: float32, 1 elements, local
#   array Y_rf_parts: float32, 256 elements, shared
#   cost 33792 flop, 135200 bytes; accesses proved
#   Y_rf_part[0] = 0.0
#   for i_1_j_fused_0 from 0, 16 times:
#     Y_rf_part[0] = Y_rf_part[0] + X[((blockIdx.x * 4224) + (i_1_j_fused_0 * 256)) + threadIdx.x]
#   if threadIdx.x < 128:
#     Y_rf_part[0] = Y_rf_part[0] + X[((blockIdx.x * 4224) + threadIdx.x) + 4096]
#   Y_rf_parts[threadIdx.x] = Y_rf_part[0]
#   barrier
#   if threadIdx.x < 128:
#     Y_rf_parts[threadIdx.x] = Y_rf_parts[threadIdx.x] + Y_rf_parts[threadIdx.x + 128]
#   barrier
#   if threadIdx.x < 64:
#     Y_rf_parts[threadIdx.x] = Y_rf_parts[threadIdx.x] + Y_rf_parts[threadIdx.x + 64]
#   barrier
#   if threadIdx.x < 32:
#     Y_rf_parts[threadIdx.x] = Y_rf_parts[threadIdx.x] + Y_rf_parts[threadIdx.x + 32]
#   barrier
#   if threadIdx.x < 16:
#     Y_rf_parts[threadIdx.x] = Y_rf_parts[threadIdx.x] + Y_rf_parts[threadIdx.x + 16]
#   barrier
#   if threadIdx.x < 8:
#     Y_rf_parts[threadIdx.x] = Y_rf_parts[threadIdx.x] + Y_rf_parts[threadIdx.x + 8]
#   barrier
#   if threadIdx.x == 0:
#     Y.rf[blockIdx.x] = ((Y_rf_parts[0] + Y_rf_parts[4]) + (Y_rf_parts[2] + Y_rf_parts[6])) + ((Y_rf_parts[1] + Y_rf_parts[5]) + (Y_rf_parts[3] + Y_rf_parts[7]))
#
# kernel total_1  # Y
#   launch grid [1, 1, 1] block [64, 1, 1]
#   array Y: float32, 1 elements, global write param 1
#   array Y.rf: float32, 8 elements, global read temp 0
#   array Y_part: float32, 1 elements, local
#   array Y_parts: float32, 64 elements, shared
#   cost 8 flop, 36 bytes; accesses proved
#   Y_part[0] = 0.0
#   if threadIdx.x < 8:
#     Y_part[0] = Y_part[0] + Y.rf[threadIdx.x]
#   Y_parts[threadIdx.x] = Y_part[0]
#   barrier
#   if threadIdx.x < 32:
#     Y_parts[threadIdx.x] = Y_parts[threadIdx.x] + Y_parts[threadIdx.x + 32]
#   barrier
#   if threadIdx.x < 16:
#     Y_parts[threadIdx.x] = Y_parts[threadIdx.x] + Y_parts[threadIdx.x + 16]
#   barrier
#   if threadIdx.x < 8:
#     Y_parts[threadIdx.x] = Y_parts[threadIdx.x] + Y_parts[threadIdx.x + 8]
#   barrier
#   if threadIdx.x == 0:
#     Y[0] = ((Y_parts[0] + Y_parts[4]) + (Y_parts[2] + Y_parts[6])) + ((Y_parts[1] + Y_parts[5]) + (Y_parts[3] + Y_parts[7]))
