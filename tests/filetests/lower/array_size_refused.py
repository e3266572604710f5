# test: lower
# target: gpu
# Nobody can say at compile time how many elements a thread copies.

@T.prim_func
def copy(x: T.handle, y: T.handle):
    n = T.int64()
    X = T.match_buffer(x, (8, n), "float32")
    Y = T.match_buffer(y, (8, n), "float32")
    L = T.alloc_buffer((8, n), "float32", scope="local")
    for t in T.thread_binding(8, "threadIdx.x"):
        for j in range(n):
            with T.block("L"):
                vi, vj = T.axis.remap("SS", [t, j])
                L[vi, vj] = X[vi, vj]
        for j in range(n):
            with T.block("Y"):
                vi, vj = T.axis.remap("SS", [t, j])
                Y[vi, vj] = L[vi, vj]

# expect-error:
# error: `copy`: no part of constant size holds what is used of local array `L` of shape [8, n]
#    --> copy:10:5
#    |
# 10 |     for t in T.thread_binding(8, thread="threadIdx.x"):
#    |     ^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^ loop `t`
