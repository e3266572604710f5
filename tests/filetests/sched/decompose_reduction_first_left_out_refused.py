# test: sched
# run: decompose_reduction(block("x"), loop("x", 1))
@T.prim_func
def before(A: T.Buffer((6, 8), "float32"), B: T.Buffer((6,), "float32")):
    for i, j in T.grid(6, 8):
        with T.block("x"):
            vi, vj = T.axis.remap("SR", [i, j])
            T.where(2 <= j)
            with T.init():
                B[vi] = T.float32(100)
            B[vi] = B[vi] + A[vi, vj]
# expect-error:
# error: decompose_reduction: the predicate of block `x` may leave out the iteration in which the init runs: T.LE(2, 0)
#   --> before:7:9
#   |
# 7 |         with T.block("x"):
#   |         ^^^^^^^^^^^^^^^^^^ block "x"
