# test: parse
@T.prim_func
def main(A: T.Buffer((16, -1), "float32")):
    for i in range(16):
        A[i, 0] = T.float32(0)
# expect-error:
# error: expected an extent that is not negative, found `-1`
#   --> negative_extent.py:3:27
#   |
# 3 | def main(A: T.Buffer((16, -1), "float32")):
#   |                           ^^
