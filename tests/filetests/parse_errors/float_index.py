# test: parse
@T.prim_func
def main(A: T.Buffer((16, 16), "float32"), B: T.Buffer((16, 16), "float32")):
    B[0, 0] = A[1.5, 0]
# expect-error:
# error: expected an integer, found a value of type float32
#   --> float_index.py:4:17
#   |
# 4 |     B[0, 0] = A[1.5, 0]
#   |                 ^^^
