# test: lower
# target: lavapipe
# Data decide the length of the loop. Nobody can count the iterations before the launch.

@T.prim_func
def powers(N: T.Buffer((8,), "int32"), Y: T.Buffer((8,), "float32")):
    for t in T.thread_binding(8, "threadIdx.x"):
        for k in range(N[t]):
            Y[t] = Y[t] * T.float32(2)
# expect-error:
# error: `powers`: kernel `powers`: the iterations of a loop depend on data, and this software adapter ends every loop after 65535, without an error; run it on the CPU, as compiled modules do
#   --> powers:6:5
#   |
# 6 |     for t in T.thread_binding(8, thread="threadIdx.x"):
#   |     ^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^ loop `t`
