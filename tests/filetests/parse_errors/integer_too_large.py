# test: parse
@T.prim_func
def main(A: T.Buffer((16, 16), "float32"), B: T.Buffer((16, 16), "float32")):
    B[99999999999999999999, 0] = 1.0
# expect-error:
# error: the number 99999999999999999999 is out of range: an integer has at most 64 bits
#   --> integer_too_large.py:4:7
#   |
# 4 |     B[99999999999999999999, 0] = 1.0
#   |       ^^^^^^^^^^^^^^^^^^^^
