# test: lower
# target: gpu
# What a break leaves out stands under conditions; the number of iterations stays known.

@T.prim_func
def first_zero(X: T.Buffer((8, 16), "int32"), Y: T.Buffer((8,), "int32")):
    for t in T.thread_binding(8, "threadIdx.x"):
        Y[t] = -1
        for i in range(16):
            if X[t, i] < 0:
                continue
            if X[t, i] == 0:
                Y[t] = i
                break
            Y[t] = -2

# expect-listing:
# func first_zero()
#   param 0 X: int32[8, 16]
#   param 1 Y: int32[8] written
#
# kernel first_zero  #
#   launch grid [1, 1, 1] block [8, 1, 1]
#   array X: int32, 128 elements, global read param 0
#   array Y: int32, 8 elements, global write param 1
#   array state: int32, 1 elements, local
#   cost 0 flop, 544 bytes; accesses proved
#   Y[threadIdx.x] = -1
#   state[0] = 0
#   for i from 0, 16 times:
#     if state[0] < 2:
#       state[0] = 0
#       let common = X[(threadIdx.x * 16) + i]
#       if common < 0:
#         state[0] = 1
#       if state[0] == 0:
#         if common == 0:
#           Y[threadIdx.x] = i
#           state[0] = 2
#         if state[0] == 0:
#           Y[threadIdx.x] = -2
