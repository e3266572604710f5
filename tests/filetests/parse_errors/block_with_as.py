# test: parse
@T.prim_func
def main(A: T.Buffer((16, 16), "float32"), B: T.Buffer((16, 16), "float32")):
    with T.block("B") as [vi, vj]:
        B[vi, vj] = 1.0
# expect-error:
# error: `as` of a block cannot be used here
#   --> block_with_as.py:4:26
#   |
# 4 |     with T.block("B") as [vi, vj]:
#   |                          ^^^^^^^^
#   |
#   = write `vi = T.axis.spatial(n, i)` in the block
