# test: parse
@T.prim_func
def main(A: T.Buffer((16,), "float32")):
    for i in range(16):
        with T.block("b"):
            vi = T.axis.spatial(16, i)
            if A[vi] > 0.0:
                break
            A[vi] = 1.0
    T.continue_loop()
# expect-error:
# error: `break` or `continue` cannot be used here
#   --> jump_outside_of_a_loop.py:8:17
#   |
# 8 |                 break
#   |                 ^^^^^
#   |
#   = it belongs into a loop, in the same block as the loop
#
# error: `break` or `continue` cannot be used here
#    --> jump_outside_of_a_loop.py:10:5
#    |
# 10 |     T.continue_loop()
#    |     ^^^^^^^^^^^^^^^^^
#    |
#    = it belongs into a loop, in the same block as the loop
