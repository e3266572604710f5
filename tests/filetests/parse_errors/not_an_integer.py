# test: parse
@T.prim_func
def main(A: T.Buffer((16, 16), "float32"), B: T.Buffer((16, 16), "float32")):
    for i in range(16):
        with T.block("B"):
            vi = T.axis.spatial(16, i)
            T.reads(A[vi, 1.5])
            T.writes(B[vi, B[vi, vi]])
            B[vi, 0] = A[vi, 0]
        with T.block("C"):
            vi = T.axis.spatial(16, i)
            T.reads(A[vi, T.Ramp(0, 1, 4)])
            T.writes(B[vi, 1.5:2.5])
            B[vi, 0] = A[vi, 0]
        with T.block("D"):
            vi = T.axis.spatial((1.5, 1.5), i)
            vj = T.axis.spatial(16, 0.5)
        B[i, 1.5:1.5] = 0.0
# expect-error:
# error: expected an integer scalar, found a value of type float32
#   --> not_an_integer.py:7:27
#   |
# 7 |             T.reads(A[vi, 1.5])
#   |                           ^^^
#
# error: expected an integer scalar, found a value of type float32
#   --> not_an_integer.py:8:28
#   |
# 8 |             T.writes(B[vi, B[vi, vi]])
#   |                            ^^^^^^^^^
#
# error: expected an integer scalar, found a value of type int32x4
#    --> not_an_integer.py:12:27
#    |
# 12 |             T.reads(A[vi, T.Ramp(0, 1, 4)])
#    |                           ^^^^^^^^^^^^^^^
#
# error: expected an integer scalar, found a value of type float32
#    --> not_an_integer.py:13:28
#    |
# 13 |             T.writes(B[vi, 1.5:2.5])
#    |                            ^^^
#
# error: expected an integer scalar, found a value of type float32
#    --> not_an_integer.py:16:34
#    |
# 16 |             vi = T.axis.spatial((1.5, 1.5), i)
#    |                                  ^^^
#
# error: expected an integer scalar, found a value of type float32
#    --> not_an_integer.py:17:37
#    |
# 17 |             vj = T.axis.spatial(16, 0.5)
#    |                                     ^^^
#
# error: expected an integer scalar, found a value of type float32
#    --> not_an_integer.py:18:14
#    |
# 18 |         B[i, 1.5:1.5] = 0.0
#    |              ^^^
