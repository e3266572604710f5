# test: sched
# run: loop_partition(loop("C", 0), [None, None])
@T.prim_func
def before(A: T.Buffer((7, 5), "float32"), B: T.Buffer((5, 9), "float32"), C: T.Buffer((7, 9), "float32")):
    for i, j, k in T.grid(7, 9, 5):
        with T.block("C"):
            vi, vj, vk = T.axis.remap("SSR", [i, j, k])
            with T.init():
                C[vi, vj] = T.float32(0)
            C[vi, vj] = C[vi, vj] + A[vi, vk] * B[vk, vj]
# expect-error:
# error: loop_partition: 2 factors are to be inferred, at most one can be
#   --> before:6:5
#   |
# 6 |     for i, j, k in T.grid(7, 9, 5):
#   |     ^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^ loop `i`
