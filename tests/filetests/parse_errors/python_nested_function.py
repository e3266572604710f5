# test: parse
@T.prim_func
def main(A: T.Buffer((16, 16), "float32"), B: T.Buffer((16, 16), "float32")):
    def helper(x):
        return x
    B[0, 0] = A[0, 0]
# expect-error:
# error: a function inside of a loop program cannot be used here
#   --> python_nested_function.py:4:9
#   |
# 4 |     def helper(x):
#   |         ^^^^^^
