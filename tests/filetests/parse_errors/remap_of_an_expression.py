# test: parse
@T.prim_func
def main(A: T.Buffer((16, 16), "float32"), B: T.Buffer((16, 16), "float32")):
    for i, j in T.grid(16, 16):
        with T.block("B"):
            vi, vj = T.axis.remap("SS", [i, j + 1])
            B[vi, vj] = A[vi, vj]
# expect-error:
# error: expected a loop variable, found `j + 1`
#   --> remap_of_an_expression.py:6:45
#   |
# 6 |             vi, vj = T.axis.remap("SS", [i, j + 1])
#   |                                             ^^^^^
