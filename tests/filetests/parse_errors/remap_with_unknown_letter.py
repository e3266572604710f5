# test: parse
@T.prim_func
def main(A: T.Buffer((16, 16), "float32"), B: T.Buffer((16, 16), "float32")):
    for i, j in T.grid(16, 16):
        with T.block("B"):
            vi, vj = T.axis.remap("SX", [i, j])
            B[vi, vj] = A[vi, vj]
# expect-error:
# error: expected the letters `S` (spatial) and `R` (reduce), found `"SX"`
#   --> remap_with_unknown_letter.py:6:35
#   |
# 6 |             vi, vj = T.axis.remap("SX", [i, j])
#   |                                   ^^^^
