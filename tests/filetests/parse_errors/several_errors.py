# test: parse
@T.prim_func
def main(A: T.Buffer((16, 16), "float32"), B: T.Buffer((16, 16), "float32")):
    for i, j in T.grid(16, 16):
        B[i, j] = A[i, q]
        C = T.alloc_bufer((16,), "float32")
        C[i] = A[i]
        B[i] = 1.0
# expect-error:
# error: undefined name `q`
#   --> several_errors.py:5:24
#   |
# 5 |         B[i, j] = A[i, q]
#   |                        ^ not defined here
#
# error: unknown function `T.alloc_bufer`
#   --> several_errors.py:6:13
#   |
# 6 |         C = T.alloc_bufer((16,), "float32")
#   |             ^^^^^^^^^^^^^
#   |
#   = did you mean `T.alloc_buffer`?
#
# error: buffer `A` takes 2 indices, 1 given
#   --> several_errors.py:7:16
#   |
# 7 |         C[i] = A[i]
#   |                ^^^^
#
# error: buffer `B` takes 2 indices, 1 given
#   --> several_errors.py:8:9
#   |
# 8 |         B[i] = 1.0
#   |         ^^^^
