# test: sched
# run: rolling_buffer("C", 0)
@T.prim_func
def before(A: T.Buffer((66,), "float32"), C: T.Buffer((64,), "float32")):
    B = T.alloc_buffer((66,), "float32")
    for i in range(66):
        with T.block("B"):
            vi = T.axis.spatial(66, i)
            B[vi] = A[vi] * T.float32(2)
    for i in range(64):
        with T.block("C"):
            vi = T.axis.spatial(64, i)
            C[vi] = B[vi] + B[vi + 2]
# expect-error:
# error: rolling_buffer: block `C` is an output block of its scope
#    --> before:14:9
#    |
# 14 |         with T.block("C"):
#    |         ^^^^^^^^^^^^^^^^^^ block "C"
