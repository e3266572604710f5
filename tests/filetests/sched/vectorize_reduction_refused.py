# test: sched
# run: vectorize(loop("C", 2))
@T.prim_func
def before(A: T.Buffer((32, 32), "float32"), B: T.Buffer((32, 32), "float32"), C: T.Buffer((32, 32), "float32")):
    for i, j, k in T.grid(32, 32, 32):
        with T.block("C"):
            vi, vj, vk = T.axis.remap("SSR", [i, j, k])
            with T.init():
                C[vi, vj] = T.float32(0)
            C[vi, vj] = C[vi, vj] + A[vi, vk] * B[vk, vj]
# expect-error:
# error: vectorize: loop `k` cannot be made vectorized: it is part of `vk` of block `C`, which is not a data parallel iter variable
#   --> before:6:5
#   |
# 6 |     for i, j, k in T.grid(32, 32, 32):
#   |     ^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^ loop `k`
# 7 |         with T.block("C"):
#   |         ------------------ block "C"
