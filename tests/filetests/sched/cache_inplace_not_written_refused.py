# test: sched
# run: cache_inplace("acc", 1, "local")
@T.prim_func
def before(A: T.Buffer((32, 8), "float32"), B: T.Buffer((32, 8), "float32")):
    for i, j in T.grid(32, 8):
        with T.block("acc"):
            vi, vj = T.axis.remap("SS", [i, j])
            A[vi, vj] = A[vi, vj] + B[vi, vj]
# expect-error:
# error: cache_inplace: block `acc` does not both read and write `B`
#   --> before:7:9
#   |
# 7 |         with T.block("acc"):
#   |         ^^^^^^^^^^^^^^^^^^^^ block "acc"
