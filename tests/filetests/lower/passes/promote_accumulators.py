# test: lower
# target: cpu
# run: until check_stack, promote_accumulators
# The sum of a row is in a local array of one element while the loop adds to it.

@T.prim_func
def sums(X: T.Buffer((64, 32), "float32"), Y: T.Buffer((64,), "float32")):
    for i in range(64):
        Y[i] = T.float32(0)
        for k in range(32):
            Y[i] = Y[i] + X[i, k]
# expect-listing:
# after check_stack:
# kernel sums  #
#   array X: float32, 2048 elements, global read param 0
#   array Y: float32, 64 elements, global read write param 1
#   cost 2048 flop, 8704 bytes; accesses proved
#   for i from 0, 64 times:
#     Y[i] = 0.0
#     for k from 0, 32 times:
#       Y[i] = Y[i] + X[(i * 32) + k]
#
# after promote_accumulators:
# kernel sums  #
#   array X: float32, 2048 elements, global read param 0
#   array Y: float32, 64 elements, global read write param 1
#   array Y_cell: float32, 1 elements, local
#   cost 2048 flop, 8704 bytes; accesses proved
#   for i from 0, 64 times:
#     Y[i] = 0.0
#     Y_cell[0] = Y[i]
#     for k from 0, 32 times:
#       Y_cell[0] = Y_cell[0] + X[(i * 32) + k]
#     Y[i] = Y_cell[0]
