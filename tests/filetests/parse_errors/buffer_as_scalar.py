# test: parse
@T.prim_func
def main(A: T.Buffer((16, 16), "float32"), B: T.Buffer((16, 16), "float32")):
    B[0, 0] = A + 1.0
# expect-error:
# error: `A` is a buffer, expected a scalar
#   --> buffer_as_scalar.py:4:15
#   |
# 4 |     B[0, 0] = A + 1.0
#   |               ^
