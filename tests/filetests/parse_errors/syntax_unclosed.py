# test: parse
@T.prim_func
def main(A: T.Buffer((16,), "float32"):
    A[0] = 1.0
# expect-error:
# error: expected `,`, found `:`
#   --> syntax_unclosed.py:3:39
#   |
# 3 | def main(A: T.Buffer((16,), "float32"):
#   |                                       ^
