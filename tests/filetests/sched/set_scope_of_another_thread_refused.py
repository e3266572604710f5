# test: sched
# run: set_scope(block("B"), 0, "local")
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
                C[vi, vj] = B[vi, 31 - vj] + T.float32(1)
# expect-error:
# error: set_scope: scope `root` is not a stage pipeline: `C` may read elements of `B_local` that its producers do not write before
#    --> before:5:5
#    |
#  5 |     # with T.block("root"):
#    |     ^^^^^^^^^^^^^^^^^^^^^^^ block "root"
#    .
# 14 |             with T.block("C"):
#    |             ------------------ block "C"
