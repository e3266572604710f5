# test: parse
@T.prim_func
def main(A: T.Buffer((16,), "float32)):
    A[0] = 1.0
# expect-error:
# error: missing closing quote in string literal
#   --> syntax_unclosed_string.py:3:29
#   |
# 3 | def main(A: T.Buffer((16,), "float32)):
#   |                             ^^^^^^^^^^^
