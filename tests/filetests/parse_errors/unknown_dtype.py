# test: parse
@T.prim_func
def main(A: T.Buffer((16,), "float31")):
    A[0] = 1.0
# expect-error:
# error: unknown dtype `float31`
#   --> unknown_dtype.py:3:29
#   |
# 3 | def main(A: T.Buffer((16,), "float31")):
#   |                             ^^^^^^^^^
#   |
#   = dtypes are written as `float32`, `int8`, `bool` or `float16x4`
