# test: sched
# run: rfactor(loop("B", 1), 0)
@T.prim_func
def before(A: T.Buffer((16, 64), "float32"), B: T.Buffer((16,), "float32")):
    for i, k in T.grid(16, 64):
        with T.block("B"):
            vi, vk = T.axis.remap("SR", [i, k])
            with T.init():
                B[vi] = T.float32(1)
            B[vi] = B[vi] + A[vi, vk]
# expect-error:
# error: rfactor: block `B` combines `B[vi] + A[vi, vk]` from T.float32(1) on: not a sum, product, minimum or maximum from its identity on
#   --> before:7:9
#   |
# 7 |         with T.block("B"):
#   |         ^^^^^^^^^^^^^^^^^^ block "B"
