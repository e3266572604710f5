# test: parse
@T.prim_func
def main(A: T.Buffer((16, 16), "float32"), B: T.Buffer((16, 16), "float32")):
    for i in range(16):
        B[i / 2, 0] = A[i, 0]
# expect-error:
# error: `/` of integers cannot be used here
#   --> integer_division.py:5:11
#   |
# 5 |         B[i / 2, 0] = A[i, 0]
#   |           ^^^^^
#   |
#   = write `//` to round down, `T.truncdiv(a, b)` to round towards zero
