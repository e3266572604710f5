# test: parse
@T.prim_func
def main(A: T.Buffer((16, 16), "float32"), B: T.Buffer((16, 16), "float32")):
    for i in range(16):
        B[0:4, i] = 0.0
        B[i, 0] = A[T.Ramp(0, 1, 4), i]
# expect-error:
# error: expected an integer scalar, found a value of type int32x4
#   --> vector_index_before_the_last.py:5:11
#   |
# 5 |         B[0:4, i] = 0.0
#   |           ^^^
#
# error: expected an integer scalar, found a value of type int32x4
#   --> vector_index_before_the_last.py:6:21
#   |
# 6 |         B[i, 0] = A[T.Ramp(0, 1, 4), i]
#   |                     ^^^^^^^^^^^^^^^
