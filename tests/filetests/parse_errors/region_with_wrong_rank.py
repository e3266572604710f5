# test: parse
@T.prim_func
def main(A: T.Buffer((16, 16), "float32"), B: T.Buffer((16, 16), "float32")):
    for i, j in T.grid(16, 16):
        with T.block("B"):
            vi, vj = T.axis.remap("SS", [i, j])
            T.reads(A[vi])
            T.writes(B[vi, vj])
            B[vi, vj] = A[vi, vj]
# expect-error:
# error: buffer `A` takes 2 indices, 1 given
#   --> region_with_wrong_rank.py:7:21
#   |
# 7 |             T.reads(A[vi])
#   |                     ^^^^^
