# test: parse
@T.prim_func
def main(A: T.Buffer((16, 16), "float32"), B: T.Buffer((16, 16), "float32")):
    with T.blok("B"):
        B[0, 0] = 1.0
# expect-error:
# error: expected `with T.block("name"):` or `with T.init():`, found `T.blok("B")`
#   --> unknown_with.py:4:10
#   |
# 4 |     with T.blok("B"):
#   |          ^^^^^^^^^^^
