# test: sched
# run: transform_block_layout(block("C"), "lambda i: (i // 4, i % 4)")
@T.prim_func
def before(A: T.Buffer((6,), "float32"), C: T.Buffer((6,), "float32")):
    for i in range(6):
        with T.block("C"):
            vi = T.axis.spatial(6, i)
            C[vi] = A[vi] + T.float32(1)
# expect-error:
# error: transform_block_layout: `lambda i: (i // 4, i % 4)` is no affine bijection of the iter variables of block `C`
#   --> before:7:9
#   |
# 7 |         with T.block("C"):
#   |         ^^^^^^^^^^^^^^^^^^ block "C"
