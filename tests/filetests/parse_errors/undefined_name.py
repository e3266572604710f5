# test: parse
@T.prim_func
def main(A: T.Buffer((16, 16), "float32"), B: T.Buffer((16, 16), "float32")):
    for i, j in T.grid(16, 16):
        B[i, j] = A[i, k]
# expect-error:
# error: undefined name `k`
#   --> undefined_name.py:5:24
#   |
# 5 |         B[i, j] = A[i, k]
#   |                        ^ not defined here
