# test: parse
@T.prim_func
def main(A: T.Buffer((16, 16), "float32"), B: T.Buffer((16, 16), "float32")):
    B[0, 0] = T.exp(A[0, 0], A[0, 1])
# expect-error:
# error: `T.exp` takes 1 argument, 2 given
#   --> too_many_arguments.py:4:15
#   |
# 4 |     B[0, 0] = T.exp(A[0, 0], A[0, 1])
#   |               ^^^^^^^^^^^^^^^^^^^^^^^
