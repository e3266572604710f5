# test: lower
# target: cpu
# run: until unblock, imply_barriers, compact, split_thread_loops
# Threads are iterations of a loop, which is split where one may read what another wrote.

@T.prim_func
def mirrored(X: T.Buffer((64, 32), "float32"), Y: T.Buffer((64, 32), "float32")):
    S = T.alloc_buffer((64, 32), scope="shared")
    for bx in T.thread_binding(64, "blockIdx.x"):
        for tx in T.thread_binding(32, "threadIdx.x"):
            with T.block("S"):
                vi, vj = T.axis.remap("SS", [bx, tx])
                S[vi, vj] = X[vi, vj]
            with T.block("Y"):
                vi, vj = T.axis.remap("SS", [bx, tx])
                Y[vi, vj] = S[vi, 31 - vj] * T.float32(2)
# expect-listing:
# after unblock:
# nest  # S, Y
#   for each blockIdx.x bx in 0 .. 64
#     for each threadIdx.x tx in 0 .. 32
#       S[bx, tx] = X[bx, tx]
#       Y[bx, tx] = S[bx, 31 - tx] * T.float32(2)
#
# after imply_barriers:
# nest  # S, Y
#   for each blockIdx.x bx in 0 .. 64
#     for each threadIdx.x tx in 0 .. 32
#       S[bx, tx] = X[bx, tx]
#       barrier  # for S
#       Y[bx, tx] = S[bx, 31 - tx] * T.float32(2)
#
# after compact:
# nest  # S, Y
#   array S: float32[64, 32]
#   for each blockIdx.x bx in 0 .. 64
#     for each threadIdx.x tx in 0 .. 32
#       S[bx, tx] = X[bx, tx]
#       barrier  # for S
#       Y[bx, tx] = S[bx, tx * -1 + 31] * T.float32(2)
#
# after split_thread_loops:
# nest  # S, Y
#   array S: float32[64, 32]
#   for each blockIdx.x bx in 0 .. 64
#     for each threadIdx.x tx in 0 .. 32
#       S[bx, tx] = X[bx, tx]
#     for each threadIdx.x tx in 0 .. 32
#       Y[bx, tx] = S[bx, tx * -1 + 31] * T.float32(2)
