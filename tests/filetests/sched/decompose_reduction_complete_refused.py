# test: sched
# run: decompose_reduction(block("B"), loop("B", 0))
@T.prim_func
def before(A: T.Buffer((128,), "float32"), B: T.Buffer((128,), "float32")):
    for i in range(128):
        with T.block("B"):
            vi = T.axis.spatial(128, i)
            B[vi] = A[vi] * T.float32(2)
# expect-error:
# error: decompose_reduction: block `B` is not a reduction block: it violates condition #1
#   --> before:7:9
#   |
# 7 |         with T.block("B"):
#   |         ^^^^^^^^^^^^^^^^^^ block "B"
