# test: parse
@T.prim_func
def main(A: T.Buffer((16, 16), "float32"), B: T.Buffer((16, 16), "float32")):
    B[0, 0] = A[0, 0]
    return B
# expect-error:
# error: `B` is a buffer, expected a scalar
#   --> python_return.py:5:12
#   |
# 5 |     return B
#   |            ^
