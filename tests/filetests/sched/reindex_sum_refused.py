# test: sched
# run: decompose_reduction(block("B"), loop("B", 0))
# run: reindex(block("B_update"), "write", 0)
@T.prim_func
def before(A: T.Buffer((16, 64), "float32"), B: T.Buffer((16,), "float32")):
    for i, k in T.grid(16, 64):
        with T.block("B"):
            vi, vk = T.axis.remap("SR", [i, k])
            with T.init():
                B[vi] = T.float32(0)
            B[vi] = B[vi] + A[vi, vk]
# expect-error:
# error: reindex: block `B_update` both reads and writes `B`
#    --> before:13:9
#    |
# 13 |         with T.block("B_update"):
#    |         ^^^^^^^^^^^^^^^^^^^^^^^^^ block "B_update"
