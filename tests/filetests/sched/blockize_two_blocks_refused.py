# test: sched
# run: blockize(loop("B", 0))
@T.prim_func
def before(A: T.Buffer((8, 32), "float32"), C: T.Buffer((8, 32), "float32")):
    B = T.alloc_buffer((8, 32), "float32")
    for i in T.thread_binding(8, thread="blockIdx.x"):
        for j in T.thread_binding(32, thread="threadIdx.x"):
            with T.block("B"):
                vi, vj = T.axis.remap("SS", [i, j])
                B[vi, vj] = A[vi, vj] * T.float32(2)
            with T.block("C"):
                vi, vj = T.axis.remap("SS", [i, j])
                C[vi, vj] = B[vi, vj] + T.float32(1)
# expect-error:
# error: blockize: loop `i` has 2 child blocks, exactly one is required
#    --> before:7:5
#    |
#  7 |     for i in T.thread_binding(8, thread="blockIdx.x"):
#    |     ^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^ loop `i`
#  8 |         for j in T.thread_binding(32, thread="threadIdx.x"):
#  9 |             with T.block("B"):
#    |             ------------------ block "B"
#    .
# 14 |             with T.block("C"):
#    |             ------------------ block "C"
