# test: lower
# target: gpu
# run: until place_buffers, compact
# A row of an extent that a call decides is no array of a thread: it stays in device memory, and the nest is made anew.

@T.prim_func
def sums(x: T.handle, y: T.handle):
    n = T.int64()
    X = T.match_buffer(x, (4, n), "float32")
    Y = T.match_buffer(y, (4, n), "float32")
    S = T.alloc_buffer((4, n))
    for t in T.thread_binding(4, "threadIdx.x"):
        for j in range(n):
            with T.block("S"):
                vt, vj = T.axis.remap("SS", [t, j])
                S[vt, vj] = X[vt, vj] * T.float32(2)
        for j in range(n):
            with T.block("Y"):
                vt, vj = T.axis.remap("SS", [t, j])
                Y[vt, vj] = S[vt, n - 1 - vj]
# expect-listing:
# after place_buffers:
# # from tvm.script import tir as T
#
# @T.prim_func
# def sums(x: T.handle, y: T.handle):
#     n = T.int64()
#     X = T.match_buffer(x, (4, n))
#     Y = T.match_buffer(y, (4, n))
#     # with T.block("root"):
#     S = T.alloc_buffer((4, n))
#     for t in T.thread_binding(4, thread="threadIdx.x"):
#         for j in range(n):
#             with T.block("S"):
#                 vt, vj = T.axis.remap("SS", [t, j])
#                 T.reads(X[vt, vj])
#                 T.writes(S[vt, vj])
#                 S[vt, vj] = X[vt, vj] * T.float32(2)
#         for j in range(n):
#             with T.block("Y"):
#                 vt, vj = T.axis.remap("SS", [t, j])
#                 T.reads(S[vt, n - T.int64(1) - vj])
#                 T.writes(Y[vt, vj])
#                 Y[vt, vj] = S[vt, n - T.int64(1) - vj]
# # S: float32[4, n], of the device
#
# after compact:
# nest  # S, Y
#   axis threadIdx_x = threadIdx.x: 4
#   for j in 0 .. n
#     S[threadIdx_x, j] = X[threadIdx_x, j] * T.float32(2)
#   for j in 0 .. n
#     Y[threadIdx_x, j] = S[threadIdx_x, n - j - 1]
