# test: sched
# run: transform_layout(block("B"), "write", 0, "lambda i, j: (i + j,)")
@T.prim_func
def before(A: T.Buffer((10, 12), "float32"), C: T.Buffer((10, 12), "float32")):
    B = T.alloc_buffer((10, 12), "float32")
    for i, j in T.grid(10, 12):
        with T.block("B"):
            vi, vj = T.axis.remap("SS", [i, j])
            B[vi, vj] = A[vi, vj] * T.float32(2)
    for i, j in T.grid(10, 12):
        with T.block("C"):
            vi, vj = T.axis.remap("SS", [i, j])
            C[vi, vj] = B[vi, vj] + T.float32(1)
# expect-error:
# error: transform_layout: the map `lambda i, j: (i + j)` is not known to give each element of `B` a place of its own, from 0 on
#   --> before:8:9
#   |
# 8 |         with T.block("B"):
#   |         ^^^^^^^^^^^^^^^^^^ block "B"
