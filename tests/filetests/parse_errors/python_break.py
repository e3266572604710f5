# test: parse
@T.prim_func
def main(A: T.Buffer((16, 16), "float32"), B: T.Buffer((16, 16), "float32")):
    for i in range(16):
        break
# expect-error:
# error: `break` or `continue` cannot be used here
#   --> python_break.py:5:9
#   |
# 5 |         break
#   |         ^^^^^
#   |
#   = write the condition with `while` or `if`
