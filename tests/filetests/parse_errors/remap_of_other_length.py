# test: parse
@T.prim_func
def main(A: T.Buffer((16, 16), "float32"), B: T.Buffer((16, 16), "float32")):
    for i, j in T.grid(16, 16):
        with T.block("B"):
            vi, vj = T.axis.remap("SSR", [i, j])
            B[vi, vj] = A[vi, vj]
# expect-error:
# error: 3 axis kinds for 2 loops
#   --> remap_of_other_length.py:6:22
#   |
# 6 |             vi, vj = T.axis.remap("SSR", [i, j])
#   |                      ^^^^^^^^^^^^^^^^^^^^^^^^^^^
