# test: parse
@T.prim_func
def main(A: T.Buffer((16,), "float32")):
    for i in range(16):
    A[i] = 1.0
# expect-error:
# error: expected an indented block after `for` statement
#   --> syntax_indentation.py:5:5
#   |
# 5 |     A[i] = 1.0
#   |     ^
