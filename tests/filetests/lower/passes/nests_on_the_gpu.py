# test: lower
# target: gpu
# run: until place_buffers, unblock, compact
# Blocks go, loops bound to threads become axes, and the tile shrinks to what a workgroup touches.

@T.prim_func
def twice(X: T.Buffer((64, 32), "float32"), Y: T.Buffer((64, 32), "float32")):
    S = T.alloc_buffer((64, 32), scope="shared")
    for bx in T.thread_binding(64, "blockIdx.x"):
        for tx in T.thread_binding(32, "threadIdx.x"):
            with T.block("S"):
                vi, vj = T.axis.remap("SS", [bx, tx])
                S[vi, vj] = X[vi, vj]
        for tx in T.thread_binding(32, "threadIdx.x"):
            with T.block("Y"):
                vi, vj = T.axis.remap("SS", [bx, tx])
                T.where(bx * 32 + tx < 2000)
                Y[vi, vj] = S[vi, 31 - vj] * T.float32(2)
# expect-listing:
# after place_buffers:
# # from tvm.script import tir as T
#
# @T.prim_func
# def twice(X: T.Buffer((64, 32), "float32"), Y: T.Buffer((64, 32), "float32")):
#     # with T.block("root"):
#     S = T.alloc_buffer((64, 32), scope="shared")
#     for bx in T.thread_binding(64, thread="blockIdx.x"):
#         for tx in T.thread_binding(32, thread="threadIdx.x"):
#             with T.block("S"):
#                 vi, vj = T.axis.remap("SS", [bx, tx])
#                 T.reads(X[vi, vj])
#                 T.writes(S[vi, vj])
#                 S[vi, vj] = X[vi, vj]
#         for tx in T.thread_binding(32, thread="threadIdx.x"):
#             with T.block("Y"):
#                 vi, vj = T.axis.remap("SS", [bx, tx])
#                 T.where(bx * 32 + tx < 2000)
#                 T.reads(S[vi, 31 - vj])
#                 T.writes(Y[vi, vj])
#                 Y[vi, vj] = S[vi, 31 - vj] * T.float32(2)
# # S: float32[64, 32], of the workgroup
#
# after unblock:
# nest  # S, Y
#   axis blockIdx_x = blockIdx.x: 64
#   axis threadIdx_x = threadIdx.x: 32
#   S[blockIdx_x, threadIdx_x] = X[blockIdx_x, threadIdx_x]
#   if blockIdx_x * 32 + threadIdx_x < 2000
#     Y[blockIdx_x, threadIdx_x] = S[blockIdx_x, 31 - threadIdx_x] * T.float32(2)
#
# after compact:
# nest  # S, Y
#   axis blockIdx_x = blockIdx.x: 64
#   axis threadIdx_x = threadIdx.x: 32
#   array S: float32[1, 32]
#   S[0, threadIdx_x] = X[blockIdx_x, threadIdx_x]
#   if blockIdx_x * 32 + threadIdx_x < 2000
#     Y[blockIdx_x, threadIdx_x] = S[0, threadIdx_x * -1 + 31] * T.float32(2)
