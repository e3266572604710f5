# test: lower
# target: gpu
# All threads store to one element, and each thread stores another value. The result would depend on the order of the threads.

@T.prim_func
def last(X: T.Buffer((8,), "float32"), Y: T.Buffer((1,), "float32")):
    for t in T.thread_binding(8, "threadIdx.x"):
        Y[0] = X[t]
# expect-error:
# error: `last`: threads of one kernel communicate through `Y` in device memory, where none waits for the others
#   --> last:6:5
#   |
# 6 |     for t in T.thread_binding(8, thread="threadIdx.x"):
#   |     ^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^ loop `t`
