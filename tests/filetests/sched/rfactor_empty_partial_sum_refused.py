# test: sched
# run: k0, k1 = split(loop("B", 1), [9, 9])
# run: rfactor(k0, 0)
@T.prim_func
def before(A: T.Buffer((16, 64), "float32"), B: T.Buffer((16,), "float32")):
    for i, k in T.grid(16, 64):
        with T.block("B"):
            vi, vk = T.axis.remap("SR", [i, k])
            with T.init():
                B[vi] = T.float32(0)
            B[vi] = B[vi] + A[vi, vk]
# expect-error:
# error: rfactor: the predicate of block `B` may leave out the first iteration of a partial sum, which would then have no init: k_0 * 9 + 0 < 64
#   --> before:7:9
#   |
# 6 |     for i, k_0, k_1 in T.grid(16, 9, 9):
#   |     ------------------------------------ loop `k_0`
# 7 |         with T.block("B"):
#   |         ^^^^^^^^^^^^^^^^^^ block "B"
