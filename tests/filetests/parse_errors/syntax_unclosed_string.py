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
#
# error: expected `,`, found name
#   --> syntax_unclosed_string.py:4:5
#   |
# 4 |     A[0] = 1.0
#   |     ^
#
# error: unexpected EOF while parsing
#   --> syntax_unclosed_string.py:5:1
#   |
# 5 |
#   | ^
