# test: parse
@T.prim_func
def main(A: T.Buffer((16, 16), "float32"), B: T.Buffer((16, 16), "float32")):
    for i in range(16):
        B[i, 0] = (i < 4) + (i < 8)
# expect-error:
# error: `+` is not defined for bool and bool
#   --> boolean_arithmetic.py:5:19
#   |
# 5 |         B[i, 0] = (i < 4) + (i < 8)
#   |                   ^^^^^^^^^^^^^^^^^
