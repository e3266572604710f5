# test: parse
@T.prim_func
def main(A: T.Buffer((1,), "float32"), A: T.Buffer((1,), "float32")):
    A[0] = 1.0
# expect-error:
# error: `A` is defined twice
#   --> duplicate_parameter.py:3:40
#   |
# 3 | def main(A: T.Buffer((1,), "float32"), A: T.Buffer((1,), "float32")):
#   |                                        ^
