# test: parse
@T.prim_func
def main(A: T.Buffer((16, 16), "float32"), B: T.Buffer((16, 16), "float32")):
    for i in [0, 1, 2]:
        B[i, 0] = 1.0
# expect-error:
# error: expected `range(n)`, `T.grid(n, m)`, or one of `T.serial`, `T.parallel`, `T.vectorized`, `T.unroll`, `T.thread_binding`, found `[0, 1, 2]`
#   --> loop_over_a_list.py:4:14
#   |
# 4 |     for i in [0, 1, 2]:
#   |              ^^^^^^^^^
