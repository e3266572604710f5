# test: parse
@T.prim_func
def main(A: T.Buffer((16, 16), "float32"), B: T.Buffer((16, 16), "float32")):
    B[0, 0] = [A[0, i] for i in range(4)]
# expect-error:
# error: expected an arithmetic expression, found `[A[0, i] for i in range(4)]`
#   --> python_list_comprehension.py:4:15
#   |
# 4 |     B[0, 0] = [A[0, i] for i in range(4)]
#   |               ^^^^^^^^^^^^^^^^^^^^^^^^^^^
