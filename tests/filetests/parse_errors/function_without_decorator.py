# test: parse
def main(A: T.Buffer((16,), "float32")):
    A[0] = 1.0
# expect-error:
# error: a function without a decorator cannot be used here
#   --> function_without_decorator.py:2:5
#   |
# 2 | def main(A: T.Buffer((16,), "float32")):
#   |     ^^^^
#   |
#   = mark a loop program with `@T.prim_func` and a graph function with `@R.function`
