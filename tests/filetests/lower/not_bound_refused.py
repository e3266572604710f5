# test: lower
# target: gpu

@T.prim_func
def copy(X: T.Buffer((8, 8), "float32"), Y: T.Buffer((8, 8), "float32")):
    for i, j in T.grid(8, 8):
        with T.block("Y"):
            vi, vj = T.axis.remap("SS", [i, j])
            Y[vi, vj] = X[vi, vj]

# expect-error:
# error: `copy`: the loops of block `Y` are not bound to threads; did you forget a schedule?
#   --> copy:6:5
#   |
# 6 |     for i, j in T.grid(8, 8):
#   |     ^^^^^^^^^^^^^^^^^^^^^^^^^ loop `i`
