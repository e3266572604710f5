# test: parse
@T.prim_func
def main(A: T.Buffer((16, 16), "float32"), B: T.Buffer((16, 16), "float32")):
    B[0, 0] = T.Cast("float32", T.int8(300))
# expect-error:
# error: the number 300 is out of range: it must fit int8
#   --> constant_out_of_range.py:4:40
#   |
# 4 |     B[0, 0] = T.Cast("float32", T.int8(300))
#   |                                        ^^^
