# test: sched
# run: reindex_cache_read(block("C"), 0, "local", "lambda i: (i,)")
@T.prim_func
def before(A: T.Buffer((18,), "float32"), C: T.Buffer((16,), "float32")):
    for i in range(16):
        with T.block("C"):
            vi = T.axis.spatial(16, i)
            C[vi] = A[vi] + A[vi + 1] + A[vi + 2]
# expect-error:
# error: reindex_cache_read: block `C` does not touch a single element of `A` in each instance
#   --> before:7:9
#   |
# 7 |         with T.block("C"):
#   |         ^^^^^^^^^^^^^^^^^^ block "C"
