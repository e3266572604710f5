# test: lower
# target: gpu

@T.prim_func
def copy(X: T.Buffer((8, 8), "float32"), Y: T.Buffer((8, 8), "float32")):
    for i in range(8):
        for j in T.thread_binding(8, "blockIdx.x"):
            with T.block("Y"):
                vi, vj = T.axis.remap("SS", [i, j])
                Y[vi, vj] = X[vi, vj]

# expect-error:
# error: `copy`: loop `i` surrounds loops bound to blockIdx; only unit loops may
#   --> copy:7:9
#   |
# 7 |         for j in T.thread_binding(8, thread="blockIdx.x"):
#   |         ^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^ loop `j`
