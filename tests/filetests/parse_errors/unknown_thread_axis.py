# test: parse
@T.prim_func
def main(A: T.Buffer((16, 16), "float32"), B: T.Buffer((16, 16), "float32")):
    for i in T.thread_binding(16, thread="threadId.x"):
        B[i, 0] = 1.0
# expect-error:
# error: unknown thread axis `threadId.x`
#   --> unknown_thread_axis.py:4:42
#   |
# 4 |     for i in T.thread_binding(16, thread="threadId.x"):
#   |                                          ^^^^^^^^^^^^
#   |
#   = thread axes are `blockIdx.x`, `threadIdx.y`, `vthread.z` and the like
