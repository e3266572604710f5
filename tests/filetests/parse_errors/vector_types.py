# test: parse
@T.prim_func
def main(A: T.Buffer((16,), "float32"), I: T.Buffer((16,), "int32"), W: T.Buffer((4,), "float32x32767")):
    A[0] = T.max_value("int32x4")
    W[0:2] = W[0:2]
    A[0:4] = T.float32x4(A[0:8])
    A[0:4] = T.Cast("float32x4", I[0:8])
    A[0:4] = T.Broadcast(A[0:4], 4)
    A[0:4] = A[T.Ramp(0.5, 1, 4)]
    A[0:4] = A[T.Ramp(I[0:4], 1, 4)]
    A[0:4] = T.Select(I[0:4] < 2, A[0:8], A[0:8])
# expect-error:
# error: expected the dtype of a scalar, found `"int32x4"`
#   --> vector_types.py:4:24
#   |
# 4 |     A[0] = T.max_value("int32x4")
#   |                        ^^^^^^^^^
#
# error: expected a vector of at most 32767 lanes, found `W[0:2]`
#   --> vector_types.py:5:5
#   |
# 5 |     W[0:2] = W[0:2]
#   |     ^^^^^^
#
# error: expected a vector of at most 32767 lanes, found `W[0:2]`
#   --> vector_types.py:5:14
#   |
# 5 |     W[0:2] = W[0:2]
#   |              ^^^^^^
#
# error: expected float32x4, found a value of type float32x8
#   --> vector_types.py:6:26
#   |
# 6 |     A[0:4] = T.float32x4(A[0:8])
#   |                          ^^^^^^
#
# error: expected float32x4, found a value of type float32x8
#   --> vector_types.py:7:34
#   |
# 7 |     A[0:4] = T.Cast("float32x4", I[0:8])
#   |                                  ^^^^^^
#
# error: expected a scalar, found `A[0:4]`
#   --> vector_types.py:8:26
#   |
# 8 |     A[0:4] = T.Broadcast(A[0:4], 4)
#   |                          ^^^^^^
#
# error: expected an integer scalar, found a value of type float32
#   --> vector_types.py:9:23
#   |
# 9 |     A[0:4] = A[T.Ramp(0.5, 1, 4)]
#   |                       ^^^
#
# error: expected an integer scalar, found a value of type int32x4
#    --> vector_types.py:10:23
#    |
# 10 |     A[0:4] = A[T.Ramp(I[0:4], 1, 4)]
#    |                       ^^^^^^
#
# error: expected float32x4, found a value of type float32x8
#    --> vector_types.py:11:35
#    |
# 11 |     A[0:4] = T.Select(I[0:4] < 2, A[0:8], A[0:8])
#    |                                   ^^^^^^
