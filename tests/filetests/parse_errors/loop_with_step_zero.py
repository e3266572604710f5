# test: parse
@T.prim_func
def main(A: T.Buffer((16,), "float32")):
    for i in range(0, 16, 0):
        A[i] = 1.0
# expect-error:
# error: expected a step of at least 1, found `0`
#   --> loop_with_step_zero.py:4:27
#   |
# 4 |     for i in range(0, 16, 0):
#   |                           ^
