# test: lower
# target: gpu

@T.prim_func
def some(X: T.Buffer((8,), "int32"), Y: T.Buffer((8,), "int32")):
    for t in T.thread_binding(8, "threadIdx.x"):
        Y[t] = X[t]
        if X[t] == 0:
            break

# expect-error:
# error: `some`: `break` leaves loop `t` of the launch, whose iterations have no order
#   --> some:6:5
#   |
# 6 |     for t in T.thread_binding(8, thread="threadIdx.x"):
#   |     ^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^ loop `t`
