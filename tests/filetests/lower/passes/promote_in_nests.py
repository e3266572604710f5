# test: lower
# target: cpu
# run: until check_stack, promote_accumulators
# A sum stays in a local array through all loops that hold nothing but the next one.

@T.prim_func
def sums(X: T.Buffer((64, 8, 32), "float32"), Y: T.Buffer((64,), "float32")):
    for i in range(64):
        Y[i] = T.float32(0)
        for j in range(8):
            for k in range(32):
                Y[i] = Y[i] + X[i, j, k]
# expect-listing:
# after check_stack:
# kernel sums  #
#   array X: float32, 16384 elements, global read param 0
#   array Y: float32, 64 elements, global read write param 1
#   cost 16384 flop, 66048 bytes; accesses proved
#   for i from 0, 64 times:
#     Y[i] = 0.0
#     for j from 0, 8 times:
#       for k from 0, 32 times:
#         Y[i] = Y[i] + X[((i * 256) + (j * 32)) + k]
#
# after promote_accumulators:
# kernel sums  #
#   array X: float32, 16384 elements, global read param 0
#   array Y: float32, 64 elements, global read write param 1
#   array Y_cell: float32, 1 elements, local
#   cost 16384 flop, 66048 bytes; accesses proved
#   for i from 0, 64 times:
#     Y[i] = 0.0
#     Y_cell[0] = Y[i]
#     for j from 0, 8 times:
#       for k from 0, 32 times:
#         Y_cell[0] = Y_cell[0] + X[((i * 256) + (j * 32)) + k]
#     Y[i] = Y_cell[0]
