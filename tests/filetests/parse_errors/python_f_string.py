# test: parse
@T.prim_func
def main(A: T.Buffer((16, 16), "float32"), B: T.Buffer((16, 16), "float32")):
    C = T.alloc_buffer((16,), f"float{32}")
# expect-error:
# error: an f-string cannot be used here
#   --> python_f_string.py:4:31
#   |
# 4 |     C = T.alloc_buffer((16,), f"float{32}")
#   |                               ^^
