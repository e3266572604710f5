# test: sched
# run: cache_read(block("C"), 0, "shared")
@T.prim_func
def before(A: T.Buffer((16, 16), "float32"), C: T.Buffer((16, 16), "float32")):
    B = T.alloc_buffer((16, 16), "float32")
    for i, j in T.grid(8, 16):
        with T.block("low"):
            vi, vj = T.axis.remap("SS", [i, j])
            B[vi, vj] = A[vi, vj]
    for i, j in T.grid(8, 16):
        with T.block("high"):
            vi = T.axis.spatial(16, i + 8)
            vj = T.axis.spatial(16, j)
            B[vi, vj] = A[vi, vj] * T.float32(2)
    for i, j in T.grid(16, 16):
        with T.block("C"):
            vi, vj = T.axis.remap("SS", [i, j])
            C[vi, vj] = B[vi, vj] + T.float32(1)
# expect-error:
# error: cache_read: 2 blocks write buffer `B`, at most one may
#    --> before:8:9
#    |
#  8 |         with T.block("low"):
#    |         ^^^^^^^^^^^^^^^^^^^^ block "low"
#    .
# 14 |         with T.block("high"):
#    |         --------------------- block "high"
