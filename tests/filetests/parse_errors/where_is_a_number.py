# test: parse
@T.prim_func
def main(A: T.Buffer((16, 16), "float32"), B: T.Buffer((16, 16), "float32")):
    for i, j in T.grid(16, 16):
        with T.block("B"):
            vi, vj = T.axis.remap("SS", [i, j])
            T.where(i + 1)
            B[vi, vj] = A[vi, vj]
# expect-error:
# error: expected bool, found a value of type int32
#   --> where_is_a_number.py:7:21
#   |
# 7 |             T.where(i + 1)
#   |                     ^^^^^
#   |
#   = compare it, as in `x != 0`
