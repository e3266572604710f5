# test: parse
@T.prim_func
def main(A: T.Buffer((16, 16), "float32"), B: T.Buffer((16, 16), "float32")):
    for i in T.thread_binding(16):
        B[i, 0] = 1.0
# expect-error:
# error: `T.thread_binding` needs the argument `thread`
#   --> thread_binding_without_axis.py:4:14
#   |
# 4 |     for i in T.thread_binding(16):
#   |              ^^^^^^^^^^^^^^^^^^^^
