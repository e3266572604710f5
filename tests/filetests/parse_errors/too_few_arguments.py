# test: parse
@T.prim_func
def main(A: T.Buffer((16, 16), "float32"), B: T.Buffer((16, 16), "float32")):
    B[0, 0] = T.max(A[0, 0])
# expect-error:
# error: `T.max` needs the argument `b`
#   --> too_few_arguments.py:4:15
#   |
# 4 |     B[0, 0] = T.max(A[0, 0])
#   |               ^^^^^^^^^^^^^^
