# test: sched
# run: rfactor(loop("B", 0), 0)
@T.prim_func
def before(A: T.Buffer((16, 64), "float32"), B: T.Buffer((16,), "float32")):
    for i, k in T.grid(16, 64):
        with T.block("B"):
            vi, vk = T.axis.remap("SR", [i, k])
            with T.init():
                B[vi] = T.float32(0)
            B[vi] = B[vi] + A[vi, vk]
# expect-error:
# error: rfactor: a spatial iter variable of block `B` depends on loop `i`
#   --> before:6:5
#   |
# 6 |     for i, k in T.grid(16, 64):
#   |     ^^^^^^^^^^^^^^^^^^^^^^^^^^^ loop `i`
# 7 |         with T.block("B"):
#   |         ------------------ block "B"
