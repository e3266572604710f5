# test: parse
@T.prim_func
def main(A: T.Buffer((16,), "float32")):
    for i in range(0, 10, 2):
        A[i] = 1.0
# expect-error:
# error: a loop step cannot be used here
#   --> loop_with_three_numbers.py:4:27
#   |
# 4 |     for i in range(0, 10, 2):
#   |                           ^
#   |
#   = write `for i in range(n // step)` and use `i * step`
