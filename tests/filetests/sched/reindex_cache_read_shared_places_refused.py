# test: sched
# run: reindex_cache_read(block("C"), 0, "local", "lambda i, j: (i * 10 + j,)")
@T.prim_func
def before(A: T.Buffer((16, 18), "float32"), C: T.Buffer((16, 18), "float32")):
    for i, j in T.grid(16, 18):
        with T.block("C"):
            vi, vj = T.axis.remap("SS", [i, j])
            C[vi, vj] = A[vi, vj] * T.float32(2)
# expect-error:
# error: reindex_cache_read: `lambda i, j: (i * 10 + j)` is not known to give each element that block `C` touches a place of its own, from 0 on
#   --> before:7:9
#   |
# 7 |         with T.block("C"):
#   |         ^^^^^^^^^^^^^^^^^^ block "C"
