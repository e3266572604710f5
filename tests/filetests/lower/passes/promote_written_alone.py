# test: lower
# target: cpu
# run: until check_stack, promote_accumulators
# The last number stays. Y is written alone, so nothing loads its element before the loop.

@T.prim_func
def last(X: T.Buffer((32,), "float32"), Y: T.Buffer((4,), "float32")):
    for k in range(32):
        Y[2] = X[k]
# expect-listing:
# after check_stack:
# kernel last  #
#   array X: float32, 32 elements, global read param 0
#   array Y: float32, 4 elements, global write param 1
#   cost 0 flop, 144 bytes; accesses proved
#   for k from 0, 32 times:
#     Y[2] = X[k]
#
# after promote_accumulators:
# kernel last  #
#   array X: float32, 32 elements, global read param 0
#   array Y: float32, 4 elements, global write param 1
#   array Y_cell: float32, 1 elements, local
#   cost 0 flop, 144 bytes; accesses proved
#   for k from 0, 32 times:
#     Y_cell[0] = X[k]
#   Y[2] = Y_cell[0]
