# test: parse
@T.prim_func
def main(A: T.Buffer((16,), "float32"), B: T.Buffer((16,), "int32")):
    for i in range(16):
        B[i] = A[i]
# expect-error:
# error: expected a value of type int32, found float32
#   --> float_into_integer.py:5:9
#   |
# 5 |         B[i] = A[i]
#   |         ^^^^
