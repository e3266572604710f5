# test: lower
# target: gpu
# run: default rules
# One row of a million elements keeps several cores busy: 16 workgroups reduce a part each, a second kernel what they give.

@T.prim_func
def total(X: T.Buffer((1048576,), "float32"), Y: T.Buffer((), "float32")):
    for i in range(1048576):
        with T.block("Y"):
            vi = T.axis.reduce(1048576, i)
            with T.init():
                Y[()] = T.float32(0)
            Y[()] = Y[()] + X[vi]

# expect-listing:
# func total()
#   param 0 X: float32[1048576]
#   param 1 Y: float32[] written
#   temp 0 Y.rf: float32[16]
#
# kernel total_0  # X_local, Y_rf
#   launch grid [16, 1, 1] block [256, 1, 1]
#   array X: float32x4, 1048576 elements, global read param 0
#   array Y.rf: float32, 16 elements, global write temp 0
#   array Y_rf_part: float32, 1 elements, local
#   array Y_rf_parts: float32, 256 elements, shared
#   array X_local: float32x4, 4 elements, local
#   cost 1048576 flop, 4194368 bytes; accesses proved
#   Y_rf_part[0] = 0.0
#   for i_1_0 from 0, 64 times:
#     X_local[0] = X[((blockIdx.x * 65536) + (i_1_0 * 1024)) + (threadIdx.x * 4) : 4]
#     Y_rf_part[0] = Y_rf_part[0] + X_local[0]
#     Y_rf_part[0] = Y_rf_part[0] + X_local[1]
#     Y_rf_part[0] = Y_rf_part[0] + X_local[2]
#     Y_rf_part[0] = Y_rf_part[0] + X_local[3]
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
#   array Y.rf: float32, 16 elements, global read temp 0
#   array Y_part: float32, 1 elements, local
#   array Y_parts: float32, 64 elements, shared
#   cost 16 flop, 68 bytes; accesses proved
#   Y_part[0] = 0.0
#   if threadIdx.x < 16:
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
