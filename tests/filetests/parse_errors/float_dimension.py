# test: parse
@T.prim_func
def main(A: T.Buffer((2.5,), "float32")):
    A[0] = 1.0
# expect-error:
# error: expected a value of type an integer scalar, found float32
#   --> float_dimension.py:3:23
#   |
# 3 | def main(A: T.Buffer((2.5,), "float32")):
#   |                       ^^^
