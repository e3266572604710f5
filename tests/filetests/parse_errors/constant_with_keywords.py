# test: parse
@T.prim_func
def main(A: T.Buffer((16,), "int32")):
    n = T.int32(is_size_var=True)
    x = T.int32(value=5)
    y = T.int32(valu=5)
    A[0] = x
# expect-error:
# error: `T.int32` has no argument `valu`
#   --> constant_with_keywords.py:6:17
#   |
# 6 |     y = T.int32(valu=5)
#   |                 ^^^^
