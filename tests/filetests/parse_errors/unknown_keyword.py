# test: parse
@T.prim_func
def main(A: T.Buffer((16, 16), "float32"), B: T.Buffer((16, 16), "float32")):
    C = T.alloc_buffer((16,), "float32", memory="shared")
    B[0, 0] = C[0]
# expect-error:
# error: `T.alloc_buffer` has no argument `memory`
#   --> unknown_keyword.py:4:42
#   |
# 4 |     C = T.alloc_buffer((16,), "float32", memory="shared")
#   |                                          ^^^^^^
