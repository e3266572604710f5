# test: parse
@T.prim_func
def main(A: T.Buffer((16, 16), "float32"), B: T.Buffer((16, 16), "float32")):
    for i in range(16):
        B[0, 0:i] = T.Broadcast(T.float32(0), 4)
# expect-error:
# error: expected a slice with a constant number of elements, found `0:i`
#   --> slice_of_unknown_length.py:5:14
#   |
# 5 |         B[0, 0:i] = T.Broadcast(T.float32(0), 4)
#   |              ^^^
