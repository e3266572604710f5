# test: parse
@T.prim_func
def main(A: T.Buffer((16, 16), "float32"), B: T.Buffer((16, 16), "float32")):
    for i, j, k in T.grid(16, 16):
        B[i, j] = A[i, k]
# expect-error:
# error: 3 names for 2 values
#   --> grid_of_other_length.py:4:9
#   |
# 4 |     for i, j, k in T.grid(16, 16):
#   |         ^^^^^^^
