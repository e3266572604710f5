# test: sched
# run: reverse_compute_at(block("S"), loop("C", 0))
# run: decompose_reduction(block("S"), loop("S", 0))
@T.prim_func
def before(A: T.Buffer((16,), "float32"), C: T.Buffer((16,), "float32"), S: T.Buffer((1,), "float32")):
    for i in range(16):
        with T.block("C"):
            vi = T.axis.spatial(16, i)
            C[vi] = A[vi]
    for k in range(16):
        with T.block("S"):
            vk = T.axis.reduce(16, k)
            with T.init():
                S[0] = T.float32(0)
            S[0] = S[0] + A[vk]
# expect-error:
# error: decompose_reduction: loop `i` repeats the whole reduction of block `S`
#    --> before:6:5
#    |
#  6 |     for i in range(16):
#    |     ^^^^^^^^^^^^^^^^^^^ loop `i`
#    .
# 13 |             with T.block("S"):
#    |             ------------------ block "S"
