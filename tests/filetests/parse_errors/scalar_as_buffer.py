# test: parse
@T.prim_func
def main(A: T.Buffer((16, 16), "float32"), B: T.Buffer((16, 16), "float32")):
    for i in range(16):
        B[0, 0] = i[0]
# expect-error:
# error: `i` is a scalar variable, expected a buffer
#   --> scalar_as_buffer.py:5:19
#   |
# 5 |         B[0, 0] = i[0]
#   |                   ^
