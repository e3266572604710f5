# test: parse
@T.prim_func
def main(A: T.Buffer((16, 16), "float32"), B: T.Buffer((16, 16), "float32")):
    for outer in range(16):
        B[0, outer] = A[0, outr]
# expect-error:
# error: undefined name `outr`
#   --> misspelled_name.py:5:28
#   |
# 5 |         B[0, outer] = A[0, outr]
#   |                            ^^^^ not defined here
#   |
#   = did you mean `outer`?
