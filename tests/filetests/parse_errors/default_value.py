# test: parse
@T.prim_func
def main(A: T.Buffer((1,), "float32"), n: T.int32 = 4):
    A[0] = 1.0
# expect-error:
# error: a default value cannot be used here
#   --> default_value.py:3:53
#   |
# 3 | def main(A: T.Buffer((1,), "float32"), n: T.int32 = 4):
#   |                                                     ^
