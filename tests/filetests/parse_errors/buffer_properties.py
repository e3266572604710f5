# test: parse
@T.prim_func
def main(A: T.Buffer((16,), "float32", align=64, offset_factor=1, buffer_type="default", axis_separators=[]), B: T.Buffer((16,), "float32", align=128), C: T.Buffer((16,), "float32", offset_factor=16), D: T.Buffer((16,), "float32", buffer_type="auto"), E: T.Buffer((16, 4), "float32", axis_separators=[1])):
    A[0] = B[0]
# expect-error:
# error: this property of a buffer cannot be used here
#   --> buffer_properties.py:3:244
#   |
# 3 | def main(A: T.Buffer((16,), "float32", align=64, offset_factor=1, buffer_type="default", axis_separators=[]), B: T.Buffer((16,), "float32", align=128), C: T.Buffer((16,), "float32", offset_factor=16), D: T.Buffer((16,), "float32", buffer_type="auto"), E: T.Buffer((16, 4), "float32", axis_separators=[1])):
#   |                                                                                                                                                                                                                                                    ^^^^^^
#   |
#   = buffers here have no dimensions that are broadcast
