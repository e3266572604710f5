# test: parse
@T.prim_func
def main(A: T.Buffer((16, 16), "float32"), B: T.Buffer((16, 16), "float32")):
    for i, j in T.grid(16, 16):
        with T.block("B"):
            vi = T.axis.spacial(16, i)
            B[vi, 0] = 1.0
# expect-error:
# error: unknown function `T.axis.spacial`
#   --> unknown_axis_kind.py:6:18
#   |
# 6 |             vi = T.axis.spacial(16, i)
#   |                  ^^^^^^^^^^^^^^
#   |
#   = did you mean `T.axis.spatial`?
