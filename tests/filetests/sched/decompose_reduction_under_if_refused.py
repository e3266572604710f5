# test: sched
# run: decompose_reduction(block("C"), loop("C", 1))
@T.prim_func
def before(A: T.Buffer((8, 16), "float32"), C: T.Buffer((8,), "float32")):
    for i, k in T.grid(8, 16):
        if i < 5:
            with T.block("C"):
                vi, vk = T.axis.remap("SR", [i, k])
                with T.init():
                    C[vi] = T.float32(0)
                C[vi] = C[vi] + A[vi, vk]
# expect-error:
# error: decompose_reduction: an `if` stands outside of blocks, where primitives do not look
#   --> before:6:5
#   |
# 6 |     for i, k in T.grid(8, 16):
#   |     ^^^^^^^^^^^^^^^^^^^^^^^^^^ loop `k`
