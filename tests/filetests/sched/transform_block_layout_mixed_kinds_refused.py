# test: sched
# run: transform_block_layout(block("C"), "lambda i, k: (i * 5 + k,)")
@T.prim_func
def before(A: T.Buffer((6, 5), "float32"), C: T.Buffer((6,), "float32")):
    for i, k in T.grid(6, 5):
        with T.block("C"):
            vi, vk = T.axis.remap("SR", [i, k])
            with T.init():
                C[vi] = T.float32(0)
            C[vi] = C[vi] + A[vi, vk]
# expect-error:
# error: transform_block_layout: `vi * 5 + vk` mixes spatial and reduce iter variables of block `C`
#   --> before:7:9
#   |
# 7 |         with T.block("C"):
#   |         ^^^^^^^^^^^^^^^^^^ block "C"
