# test: lower
# target: gpu
# X has 65536 * 32769 elements. The index of the last element does not fit int32.

@T.prim_func
def first_row(X: T.Buffer((65536, 32769), "float32"), Y: T.Buffer((64,), "float32")):
    for t in T.thread_binding(64, "threadIdx.x"):
        with T.block("Y"):
            v = T.axis.spatial(64, t)
            Y[v] = X[0, v]
# expect-error:
# error: `first_row`: buffer `X` has 2147549184 elements, more than an index of type int32 can name
#   --> first_row:6:5
#   |
# 6 |     for t in T.thread_binding(64, thread="threadIdx.x"):
#   |     ^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^ loop `t`
