# test: lower
# target: gpu
# The dividend reaches 69999 * 69999, which int32 does not hold. Its quotient in int32 would be wrong.

@T.prim_func
def squares(X: T.Buffer((70000,), "float32"), Y: T.Buffer((70000,), "float32")):
    for b in T.thread_binding(70000, "blockIdx.x"):
        with T.block("Y"):
            vb = T.axis.spatial(70000, b)
            Y[vb] = X[vb * vb // 70000]
# expect-error:
# error: `squares`: `blockIdx.x * blockIdx.x` reaches 4899860001, and GPUs compute indices in int32; run it on the CPU
#   --> squares:6:5
#   |
# 6 |     for b in T.thread_binding(70000, thread="blockIdx.x"):
#   |     ^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^ loop `b`
