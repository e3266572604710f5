# test: parse
@T.prim_func
def main(A: T.Buffer((16, 16), "float32"), B: T.Buffer((16, 16), "float32")):
    for i, j in T.grid(16, 16):
        with T.block("B"):
            vi = T.axis.spatial(16)
            B[vi, 0] = 1.0
# expect-error:
# error: `T.axis.spatial` needs the argument `binding`
#   --> axis_without_binding.py:6:18
#   |
# 6 |             vi = T.axis.spatial(16)
#   |                  ^^^^^^^^^^^^^^^^^^
