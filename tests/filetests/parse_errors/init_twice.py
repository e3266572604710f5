# test: parse
@T.prim_func
def main(A: T.Buffer((16, 16), "float32"), B: T.Buffer((16, 16), "float32")):
    for i, j in T.grid(16, 16):
        with T.block("B"):
            vi, vj = T.axis.remap("SS", [i, j])
            with T.init():
                B[vi, vj] = 0.0
            with T.init():
                B[vi, vj] = 1.0
            B[vi, vj] = B[vi, vj] + A[vi, vj]
# expect-error:
# error: `T.init` is defined twice
#   --> init_twice.py:9:18
#   |
# 9 |             with T.init():
#   |                  ^^^^^^^^
