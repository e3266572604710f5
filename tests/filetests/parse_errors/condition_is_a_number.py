# test: parse
@T.prim_func
def main(A: T.Buffer((16, 16), "float32"), B: T.Buffer((16, 16), "float32")):
    for i in range(16):
        if A[i, 0]:
            B[i, 0] = 1.0
# expect-error:
# error: expected bool, found a value of type float32
#   --> condition_is_a_number.py:5:12
#   |
# 5 |         if A[i, 0]:
#   |            ^^^^^^^
#   |
#   = compare it, as in `x != 0`
