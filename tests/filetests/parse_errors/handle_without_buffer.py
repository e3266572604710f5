# test: parse
@T.prim_func
def main(a: T.handle, b: T.handle):
    A = T.match_buffer(a, (16,), "float32")
    A[0] = 1.0
# expect-error:
# error: parameter `b` has no buffer
#   --> handle_without_buffer.py:3:23
#   |
# 3 | def main(a: T.handle, b: T.handle):
#   |                       ^^^^^^^^^^^
#   |
#   = write `A = T.match_buffer(b, (n, m), "float32")` in the body
