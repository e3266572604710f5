# test: sched
# run: split(loop("B", 0), [None, 4])
# run: split(loop("D", 0), [None, 3])
# run: merge([loop("B", 1), loop("D", 1)])
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
# error: merge: loop `i_0` has 12 iterations, loop `i_0` has 16
#    --> before:7:5
#    |
#  7 |     for i_0, i_1, j in T.grid(12, 4, 20):
#    |     ^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^ loop `i_0`
#    .
# 14 |     for i_0, i_1, j in T.grid(16, 3, 20):
#    |     ------------------------------------- loop `i_0`
