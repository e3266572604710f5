# test: parse
@T.prim_func
def main(A: T.Buffer((16, 16), "float32"), B: T.Buffer((16, 16), "float32")):
    for i in range(0, 16, step=2):
        B[i, 0] = 1.0
# expect-error:
# error: a loop step cannot be used here
#   --> loop_with_step.py:4:32
#   |
# 4 |     for i in range(0, 16, step=2):
#   |                                ^
#   |
#   = write `for i in range(n // step)` and use `i * step`
