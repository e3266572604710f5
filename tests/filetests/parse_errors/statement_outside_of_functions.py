# test: parse
@T.prim_func
def main(A: T.Buffer((1,), "float32")):
    A[0] = 1.0

main.show()
# expect-error:
# error: this statement cannot be used here
#   --> statement_outside_of_functions.py:6:1
#   |
# 6 | main.show()
#   | ^^^^^^^^^^^
#   |
#   = outside of functions there are imports and `n = TypeVar("n")`
