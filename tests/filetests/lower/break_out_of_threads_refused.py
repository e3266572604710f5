# test: lower
# target: gpu
# Threads that meet go on together, so none of them can end the others.

@T.prim_func
def some(X: T.Buffer((8,), "int32"), Y: T.Buffer((8,), "int32")):
    S = T.alloc_buffer((8,), "int32", scope="shared")
    for t in T.thread_binding(8, "threadIdx.x"):
        S[t] = X[t]
        if X[t] == 0:
            break
        Y[t] = S[7 - t]

# expect-error:
# error: `some`: `break` leaves loop `t` of the launch, whose iterations have no order
#   --> some:7:5
#   |
# 7 |     for t in T.thread_binding(8, thread="threadIdx.x"):
#   |     ^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^ loop `t`
