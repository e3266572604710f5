# test: lower
# target: cpu
# run: until check_stack, promote_accumulators
# Iterations read what others wrote: a running sum, and a sum whose element the loop reads by an index that moves.

@T.prim_func
def scan(X: T.Buffer((32,), "float32"), Y: T.Buffer((33,), "float32")):
    for k in range(32):
        Y[k + 1] = Y[k] + X[k]
    for k in range(32):
        Y[0] = Y[0] + Y[k]
# expect-listing:
# after check_stack:
# kernel scan  #
#   array X: float32, 32 elements, global read param 0
#   array Y: float32, 33 elements, global read write param 1
#   cost 64 flop, 392 bytes; accesses proved
#   for k.0 from 0, 32 times:
#     Y[k.0 + 1] = Y[k.0] + X[k.0]
#   for k.1 from 0, 32 times:
#     Y[0] = Y[0] + Y[k.1]
#
# after promote_accumulators:
# kernel scan  #
#   array X: float32, 32 elements, global read param 0
#   array Y: float32, 33 elements, global read write param 1
#   cost 64 flop, 392 bytes; accesses proved
#   for k.0 from 0, 32 times:
#     Y[k.0 + 1] = Y[k.0] + X[k.0]
#   for k.1 from 0, 32 times:
#     Y[0] = Y[0] + Y[k.1]
