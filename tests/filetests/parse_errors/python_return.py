# test: parse
@T.prim_func
def main(A: T.Buffer((16, 16), "float32"), B: T.Buffer((16, 16), "float32")):
    B[0, 0] = A[0, 0]
    return B
# expect-error:
# error: `return` cannot be used here
#   --> python_return.py:5:5
#   |
# 5 |     return B
#   |     ^^^^^^^^
#   |
#   = outputs of a loop program are its last parameters
