# test: parse
@T.prim_func
def main(A: T.Buffer((n,), "float32")):
    A[0] = 1.0
# expect-error:
# error: undefined name `n`
#   --> undefined_dimension.py:3:23
#   |
# 3 | def main(A: T.Buffer((n,), "float32")):
#   |                       ^ not defined here
