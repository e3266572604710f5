# test: parse
@T.prim_func
def main(A: T.Buffer((16, 16), "float32"), B: T.Buffer((16, 16), "float32")):
    v: T.int32 = A[0, 0]
    B[0, 0] = T.Cast("float32", v)
# expect-error:
# error: expected int32, found a value of type float32
#   --> let_of_another_type.py:4:18
#   |
# 4 |     v: T.int32 = A[0, 0]
#   |                  ^^^^^^^
#   |
#   = write `T.Cast("int32", value)` to convert it
