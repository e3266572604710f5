# test: lower
# target: gpu
# run: until thread_returns, returns
# A thread that returns in the middle runs what is left under a condition.

@T.prim_func
def until_negative(X: T.Buffer((8, 16), "int32"), Y: T.Buffer((8,), "int32")):
    for t in T.thread_binding(8, "threadIdx.x"):
        for i in range(16):
            if X[t, i] < 0:
                return
            Y[t] = i
# expect-listing:
# after thread_returns:
# # from tvm.script import tir as T
#
# @T.prim_func
# def until_negative(X: T.Buffer((8, 16), "int32"), Y: T.Buffer((8,), "int32")):
#     # with T.block("root"):
#     returned = T.alloc_buffer((1,), "int32", scope="local")
#     for t in T.thread_binding(8, thread="threadIdx.x"):
#         returned[T.int64(0)] = 0
#         for i in range(16):
#             if returned[T.int64(0)] == 0:
#                 if X[t, i] < 0:
#                     returned[T.int64(0)] = 1
#                 if returned[T.int64(0)] == 0:
#                     Y[t] = i
#
# after returns:
# # from tvm.script import tir as T
#
# @T.prim_func
# def until_negative(X: T.Buffer((8, 16), "int32"), Y: T.Buffer((8,), "int32")):
#     # with T.block("root"):
#     returned = T.alloc_buffer((1,), "int32", scope="local")
#     for t in T.thread_binding(8, thread="threadIdx.x"):
#         returned[T.int64(0)] = 0
#         for i in range(16):
#             if returned[T.int64(0)] == 0:
#                 if X[t, i] < 0:
#                     returned[T.int64(0)] = 1
#                 if returned[T.int64(0)] == 0:
#                     Y[t] = i
