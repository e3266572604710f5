# test: parse
@T.prim_func
def main(A: T.Buffer((4294967296, 4294967296), "int8")):
    for i in range(16):
        A[i, 0] = T.int8(0)
# expect-error:
# error: expected a tensor of fewer than 2^63 elements, found `4294967296`
#   --> buffer_too_large.py:3:35
#   |
# 3 | def main(A: T.Buffer((4294967296, 4294967296), "int8")):
#   |                                   ^^^^^^^^^^
