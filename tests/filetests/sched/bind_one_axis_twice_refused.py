# test: sched
# run: bind(loop("C", 0), "threadIdx.x")
# run: bind(loop("C", 1), "threadIdx.x")
@T.prim_func
def before(A: T.Buffer((8, 8), "float32"), C: T.Buffer((8, 8), "float32")):
    for i, j in T.grid(8, 8):
        with T.block("C"):
            vi, vj = T.axis.remap("SS", [i, j])
            C[vi, vj] = A[vi, vj]
# expect-error:
# error: bind: loops `i` and `j` cannot both be bound to threadIdx.x, which has one value: block `C` depends on both
#   --> before:7:9
#   |
# 6 |     for i in T.thread_binding(8, thread="threadIdx.x"):
#   |     --------------------------------------------------- loop `i`
# 7 |         for j in range(8):
#   |         ^^^^^^^^^^^^^^^^^^ loop `j`
# 8 |             with T.block("C"):
#   |             ------------------ block "C"
