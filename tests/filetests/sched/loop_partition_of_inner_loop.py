# test: sched
# run: a, b = loop_partition(loop("C", 1), [4])
# run: c, d, e = loop_partition(loop("C_j1", 1), [1, None, 2])
# run: parallel(b)
@T.prim_func
def before(A: T.Buffer((7, 5), "float32"), B: T.Buffer((5, 9), "float32"), C: T.Buffer((7, 9), "float32")):
    for i, j, k in T.grid(7, 9, 5):
        with T.block("C"):
            vi, vj, vk = T.axis.remap("SSR", [i, j, k])
            with T.init():
                C[vi, vj] = T.float32(0)
            C[vi, vj] = C[vi, vj] + A[vi, vk] * B[vk, vj]
# expect-error:
# error: loop_partition: loop `k` chooses reduction iterations of block `C_j1`, whose init would run in each part
#    --> before:25:21
#    |
# 25 |                     for k in range(5):
#    |                     ^^^^^^^^^^^^^^^^^^ loop `k`
# 26 |                         with T.block("C_j1"):
#    |                         --------------------- block "C_j1"
