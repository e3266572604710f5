# test: parse
@T.prim_func
def main(A: T.Buffer((16, 16), "float32"), B: T.Buffer((16, 16), "float32")):
    for i, i in T.grid(16, 16):
        B[i, i] = 1.0
# expect-error:
# error: `i` is defined twice
#   --> loop_variable_twice.py:4:12
#   |
# 4 |     for i, i in T.grid(16, 16):
#   |            ^
