# test: lower
# target: cpu
# run: until promote_accumulators, check_simd_reductions
# A mark allows any order of terms. The first loop is a sum of neighbours. The second one reads every third element, which no vector
# loads, and the third one has no local element that it accumulates in: both run in order.

@T.prim_func
def marked(X: T.Buffer((96,), "float32"), Y: T.Buffer((2,), "float32"), Z: T.Buffer((97,), "float32")):
    Y[0] = T.float32(0)
    for k in T.serial(96, annotations={"simd_reduction": True}):
        Y[0] = Y[0] + X[k]
    Y[1] = T.float32(0)
    for k in T.serial(32, annotations={"simd_reduction": True}):
        Y[1] = Y[1] + X[k * 3]
    for k in T.serial(96, annotations={"simd_reduction": True}):
        Z[k + 1] = Z[k] + X[k]
# expect-listing:
# after promote_accumulators:
# kernel marked  #
#   array X: float32, 96 elements, global read param 0
#   array Y: float32, 2 elements, global read write param 1
#   array Z: float32, 97 elements, global read write param 2
#   array Y_cell.3: float32, 1 elements, local
#   array Y_cell.4: float32, 1 elements, local
#   cost 224 flop, 1176 bytes; accesses proved
#   Y[0] = 0.0
#   Y_cell.3[0] = Y[0]
#   simd reduction for k.0 from 0, 96 times:
#     Y_cell.3[0] = Y_cell.3[0] + X[k.0]
#   Y[0] = Y_cell.3[0]
#   Y[1] = 0.0
#   Y_cell.4[0] = Y[1]
#   simd reduction for k.1 from 0, 32 times:
#     Y_cell.4[0] = Y_cell.4[0] + X[k.1 * 3]
#   Y[1] = Y_cell.4[0]
#   simd reduction for k.2 from 0, 96 times:
#     Z[k.2 + 1] = Z[k.2] + X[k.2]
#
# after check_simd_reductions:
# kernel marked  #
#   array X: float32, 96 elements, global read param 0
#   array Y: float32, 2 elements, global read write param 1
#   array Z: float32, 97 elements, global read write param 2
#   array Y_cell.3: float32, 1 elements, local
#   array Y_cell.4: float32, 1 elements, local
#   cost 224 flop, 1176 bytes; accesses proved
#   Y[0] = 0.0
#   Y_cell.3[0] = Y[0]
#   simd reduction for k.0 from 0, 96 times:
#     Y_cell.3[0] = Y_cell.3[0] + X[k.0]
#   Y[0] = Y_cell.3[0]
#   Y[1] = 0.0
#   Y_cell.4[0] = Y[1]
#   for k.1 from 0, 32 times:
#     Y_cell.4[0] = Y_cell.4[0] + X[k.1 * 3]
#   Y[1] = Y_cell.4[0]
#   for k.2 from 0, 96 times:
#     Z[k.2 + 1] = Z[k.2] + X[k.2]
