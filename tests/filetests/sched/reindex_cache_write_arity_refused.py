# test: sched
# run: reindex_cache_write(block("C"), 0, "local", "lambda i: (i,)")
@T.prim_func
def before(A: T.Buffer((16, 18), "float32"), C: T.Buffer((16, 18), "float32")):
    for i, j in T.grid(16, 18):
        with T.block("C"):
            vi, vj = T.axis.remap("SS", [i, j])
            C[vi, vj] = A[vi, vj] * T.float32(2)
# expect-error:
# error: reindex_cache_write: `lambda i: (i)` is no map of the 2 iter variables of block `C`
#   --> before:7:9
#   |
# 7 |         with T.block("C"):
#   |         ^^^^^^^^^^^^^^^^^^ block "C"
