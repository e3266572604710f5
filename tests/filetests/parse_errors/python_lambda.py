# test: parse
@T.prim_func
def main(A: T.Buffer((16,), "float32")):
    A[0] = T.max(lambda a, b: a)
# expect-error:
# error: `T.max` needs the argument `b`
#   --> python_lambda.py:4:12
#   |
# 4 |     A[0] = T.max(lambda a, b: a)
#   |            ^^^^^^^^^^^^^^^^^^^^^
