# test: parse
@T.prim_func
def main(A: T.Buffer((16, 16), "float32"), B: T.Buffer((16, 16), "float32")):
    B[0, 0] = A[0, 0] if A[0, 0] > 0.0 else 0.0
# expect-error:
# error: `... if ... else ...` cannot be used here
#   --> python_conditional.py:4:15
#   |
# 4 |     B[0, 0] = A[0, 0] if A[0, 0] > 0.0 else 0.0
#   |               ^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^
#   |
#   = write `T.if_then_else(cond, then, else)` or `T.Select(cond, then, else)`
