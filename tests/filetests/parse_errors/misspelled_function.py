# test: parse
@T.prim_func
def main(A: T.Buffer((16, 16), "float32"), B: T.Buffer((16, 16), "float32")):
    for i, j in T.grid(16, 16):
        B[i, j] = T.sqrtt(A[i, j])
# expect-error:
# error: unknown function `T.sqrtt`
#   --> misspelled_function.py:5:19
#   |
# 5 |         B[i, j] = T.sqrtt(A[i, j])
#   |                   ^^^^^^^
#   |
#   = did you mean `T.sqrt`?
