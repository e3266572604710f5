# test: sched
# run: split(loop("C", 0), [None, 4])
# run: transform_block_layout(block("C"), "lambda i: (i // 2, i % 2)")
@T.prim_func
def before(A: T.Buffer((6,), "float32"), C: T.Buffer((6,), "float32")):
    for i in range(6):
        with T.block("C"):
            vi = T.axis.spatial(6, i)
            C[vi] = A[vi] + T.float32(1)
# expect-error:
# error: transform_block_layout: the iter variables of block `C` are not the variables of the loops around it, or these hold more, or it has a predicate
#   --> before:7:9
#   |
# 7 |         with T.block("C"):
#   |         ^^^^^^^^^^^^^^^^^^ block "C"
