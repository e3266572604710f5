# test: parse
@T.prim_func
def main(A):
    A[0] = 1.0
# expect-error:
# error: expected a type: `T.Buffer((n, m), "float32")`, `T.handle`, or a scalar type as `T.int32`, found `A`
#   --> parameter_without_type.py:3:10
#   |
# 3 | def main(A):
#   |          ^
