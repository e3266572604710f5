# test: sched
# run: merge([loop("B", 0), loop("D", 1)])
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
# error: merge: the nest down to loop `i` has 1 loop(s), that down to loop `j` has 2
#    --> before:7:5
#    |
#  7 |     for i, j in T.grid(48, 20):
#    |     ^^^^^^^^^^^^^^^^^^^^^^^^^^^ loop `i`
#    .
# 13 |     for i, j in T.grid(48, 20):
#    |     --------------------------- loop `j`
