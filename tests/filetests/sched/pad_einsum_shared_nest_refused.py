# test: sched
# run: merge([loop("B", 1), loop("D", 1)])
# run: pad_einsum("D", [7, 7])
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
# error: pad_einsum: block `B` of the same nest uses `B`, of which a padded copy is to be made
#    --> before:8:9
#    |
#  8 |         with T.block("B"):
#    |         ^^^^^^^^^^^^^^^^^^ block "B"
#    .
# 13 |         with T.block("D"):
#    |         ------------------ block "D"
