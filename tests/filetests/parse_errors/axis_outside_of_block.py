# test: parse
@T.prim_func
def main(A: T.Buffer((16, 16), "float32"), B: T.Buffer((16, 16), "float32")):
    for i in range(16):
        vi = T.axis.spatial(16, i)
        B[vi, 0] = 1.0
# expect-error:
# error: `T.axis` cannot be used here
#   --> axis_outside_of_block.py:5:14
#   |
# 5 |         vi = T.axis.spatial(16, i)
#   |              ^^^^^^^^^^^^^^^^^^^^^
#   |
#   = it belongs directly into the body of a block
