# test: parse
@T.prim_func
def main(A: T.Buffer((16, 16), "float32"), B: T.Buffer((16, 16), "float32")):
    A[0, 0] + 1.0
# expect-error:
# error: a value that nothing uses cannot be used here
#   --> python_value_for_nothing.py:4:5
#   |
# 4 |     A[0, 0] + 1.0
#   |     ^^^^^^^^^^^^^
#   |
#   = assign it to an element of a buffer
