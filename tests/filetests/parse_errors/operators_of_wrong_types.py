# test: parse
@T.prim_func
def main(A: T.Buffer((16,), "float32"), I: T.Buffer((16,), "int32"), P: T.Buffer((16,), "bool")):
    for i in range(16):
        A[i] = T.exp(I[i])
        A[i] = T.bitwise_and(A[i], A[i])
        I[i] = T.shift_left(P[i], P[i])
        I[i] = T.Add(P[i], P[i])
        I[i] = T.min(P[i], P[i])
        I[i] = T.popcount(A[i])
        P[i] = P[i] < P[i]
        I[i] = P[i] ** P[i]
        A[i] = T.fma(A[i], A[0:4], A[0:8])
        I[i] = T.ceildiv(P[i], P[i])
# expect-error:
# error: `T.exp` is not defined for int32
#   --> operators_of_wrong_types.py:5:16
#   |
# 5 |         A[i] = T.exp(I[i])
#   |                ^^^^^^^^^^^
#
# error: `T.bitwise_and` is not defined for float32 and float32
#   --> operators_of_wrong_types.py:6:16
#   |
# 6 |         A[i] = T.bitwise_and(A[i], A[i])
#   |                ^^^^^^^^^^^^^^^^^^^^^^^^^
#
# error: `T.shift_left` is not defined for bool and bool
#   --> operators_of_wrong_types.py:7:16
#   |
# 7 |         I[i] = T.shift_left(P[i], P[i])
#   |                ^^^^^^^^^^^^^^^^^^^^^^^^
#
# error: `T.Add` is not defined for bool and bool
#   --> operators_of_wrong_types.py:8:16
#   |
# 8 |         I[i] = T.Add(P[i], P[i])
#   |                ^^^^^^^^^^^^^^^^^
#
# error: `T.min` is not defined for bool and bool
#   --> operators_of_wrong_types.py:9:16
#   |
# 9 |         I[i] = T.min(P[i], P[i])
#   |                ^^^^^^^^^^^^^^^^^
#
# error: `T.popcount` is not defined for float32
#    --> operators_of_wrong_types.py:10:16
#    |
# 10 |         I[i] = T.popcount(A[i])
#    |                ^^^^^^^^^^^^^^^^
#
# error: `<` is not defined for bool and bool
#    --> operators_of_wrong_types.py:11:16
#    |
# 11 |         P[i] = P[i] < P[i]
#    |                ^^^^^^^^^^^
#
# error: `**` is not defined for bool
#    --> operators_of_wrong_types.py:12:16
#    |
# 12 |         I[i] = P[i] ** P[i]
#    |                ^^^^^^^^^^^^
#
# error: `T.fma` is not defined for float32x8 and float32x4
#    --> operators_of_wrong_types.py:13:16
#    |
# 13 |         A[i] = T.fma(A[i], A[0:4], A[0:8])
#    |                ^^^^^^^^^^^^^^^^^^^^^^^^^^^
#
# error: `T.ceildiv` is not defined for bool and bool
#    --> operators_of_wrong_types.py:14:16
#    |
# 14 |         I[i] = T.ceildiv(P[i], P[i])
#    |                ^^^^^^^^^^^^^^^^^^^^^
