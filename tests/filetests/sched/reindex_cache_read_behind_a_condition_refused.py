# test: sched
# run: reindex_cache_read(block("C"), 0, "local", "lambda i: (i,)")
@T.prim_func
def before(A: T.Buffer((16,), "float32"), C: T.Buffer((18,), "float32")):
    for i in range(18):
        with T.block("C"):
            vi = T.axis.spatial(18, i)
            C[vi] = T.if_then_else(vi >= 1 and vi < 17, A[vi - 1], T.float32(0))
# expect-error:
# error: reindex_cache_read: block `C` is not known to stay inside of `A` where it does not look before
#   --> before:7:9
#   |
# 7 |         with T.block("C"):
#   |         ^^^^^^^^^^^^^^^^^^ block "C"
