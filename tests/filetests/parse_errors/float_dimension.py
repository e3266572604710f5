# test: parse
@T.prim_func
def main(A: T.Buffer((2.5,), "float32")):
    A[0] = 1.0
# expect-error:
# error: expected an integer scalar, found a value of type float32
#   --> float_dimension.py:3:23
#   |
# 3 | def main(A: T.Buffer((2.5,), "float32")):
#   |                       ^^^
