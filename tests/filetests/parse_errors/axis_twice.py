# test: parse
@T.prim_func
def main(A: T.Buffer((16, 16), "float32"), B: T.Buffer((16, 16), "float32")):
    for i, j in T.grid(16, 16):
        with T.block("B"):
            vi = T.axis.spatial(16, i)
            vi = T.axis.spatial(16, j)
            B[vi, 0] = 1.0
# expect-error:
# error: `vi` is defined twice
#   --> axis_twice.py:7:13
#   |
# 7 |             vi = T.axis.spatial(16, j)
#   |             ^^
