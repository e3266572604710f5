# test: parse
@T.prim_func
def main(A: T.Buffer((16,), "float32")):
    A[0] = T.reinterpret("float16", A[1])
# expect-error:
# error: expected as many bits as float16, found a value of type float32
#   --> reinterpreted_width.py:4:37
#   |
# 4 |     A[0] = T.reinterpret("float16", A[1])
#   |                                     ^^^^
