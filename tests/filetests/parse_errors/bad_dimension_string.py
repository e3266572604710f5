# test: parse
@T.prim_func
def main(A: T.Buffer(("n +",), "float32")):
    A[0] = 1.0
# expect-error:
# error: expected a dimension: a name, a number or an expression, found `"n +"`
#   --> bad_dimension_string.py:3:23
#   |
# 3 | def main(A: T.Buffer(("n +",), "float32")):
#   |                       ^^^^^
