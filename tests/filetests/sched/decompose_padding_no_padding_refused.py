# test: sched
# run: decompose_padding("B", loop("B", 0))
@T.prim_func
def before(A: T.Buffer((48, 20), "float32"), D: T.Buffer((48, 20), "float32")):
    B = T.alloc_buffer((48, 20), "float32")
    for i, j in T.grid(48, 20):
        with T.block("B"):
            vi, vj = T.axis.remap("SS", [i, j])
            B[vi, vj] = A[vi, vj] + T.float32(1)
    for i, j in T.grid(48, 20):
        with T.block("D"):
            vi, vj = T.axis.remap("SS", [i, j])
            D[vi, vj] = B[vi, vj] * T.float32(2)
# expect-error:
# error: decompose_padding: block `B` does not pad: it stores no `if_then_else`
#   --> before:8:9
#   |
# 8 |         with T.block("B"):
#   |         ^^^^^^^^^^^^^^^^^^ block "B"
