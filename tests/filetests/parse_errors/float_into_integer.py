# test: parse
@T.prim_func
def main(A: T.Buffer((16,), "float32"), B: T.Buffer((16,), "int32")):
    for i in range(16):
        B[i] = A[i]
# expect-error:
# error: expected int32, found a value of type float32
#   --> float_into_integer.py:5:16
#   |
# 5 |         B[i] = A[i]
#   |                ^^^^
#   |
#   = write `T.Cast("int32", value)` to convert it
