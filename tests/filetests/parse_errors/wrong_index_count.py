# test: parse
@T.prim_func
def main(A: T.Buffer((16, 16), "float32"), B: T.Buffer((16, 16), "float32")):
    for i in range(16):
        B[i, 0] = A[i]
# expect-error:
# error: buffer `A` takes 2 indices, 1 given
#   --> wrong_index_count.py:5:19
#   |
# 5 |         B[i, 0] = A[i]
#   |                   ^^^^
