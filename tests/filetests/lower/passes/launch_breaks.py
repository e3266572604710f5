# test: lower
# target: gpu
# run: until launch_breaks
# Iterations that a break ends run in order: they are no threads.

@T.prim_func
def first_negative(X: T.Buffer((8,), "int32"), Y: T.Buffer((1,), "int32")):
    for t in T.thread_binding(8, "threadIdx.x"):
        if X[t] < 0:
            Y[0] = t
            break
# expect-listing:
# after launch_breaks:
# # from tvm.script import tir as T
#
# @T.prim_func
# def first_negative(X: T.Buffer((8,), "int32"), Y: T.Buffer((1,), "int32")):
#     # with T.block("root"):
#     for t in T.serial(8, annotations={"one_thread": True}):
#         if X[t] < 0:
#             Y[0] = t
#             break
