# test: sched
# run: unroll(loop("B", 1))
# run: rfactor(loop("B", 1), 0)
@T.prim_func
def before(A: T.Buffer((16, 64), "float32"), B: T.Buffer((16,), "float32")):
    for i, k in T.grid(16, 64):
        with T.block("B"):
            vi, vk = T.axis.remap("SR", [i, k])
            with T.init():
                B[vi] = T.float32(0)
            B[vi] = B[vi] + A[vi, vk]
# expect-error:
# error: rfactor: loop `k` is not serial
#   --> before:7:9
#   |
# 7 |         for k in T.unroll(64):
#   |         ^^^^^^^^^^^^^^^^^^^^^^ loop `k`
