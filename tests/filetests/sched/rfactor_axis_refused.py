# test: sched
# run: rfactor(loop("B", 1), 2)
@T.prim_func
def before(A: T.Buffer((16, 64), "float32"), B: T.Buffer((16,), "float32")):
    for i, k in T.grid(16, 64):
        with T.block("B"):
            vi, vk = T.axis.remap("SR", [i, k])
            with T.init():
                B[vi] = T.float32(0)
            B[vi] = B[vi] + A[vi, vk]
# expect-error:
# error: rfactor: factor axis 2 is out of range: `B` has 1 dimension(s), so there are 2 places for another one
#   --> before:7:9
#   |
# 7 |         with T.block("B"):
#   |         ^^^^^^^^^^^^^^^^^^ block "B"
