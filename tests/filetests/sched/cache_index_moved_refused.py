# test: sched
# run: cache_index("B", "global", 0)
# run: merge([loop("B", 0), loop("index_0", 0)])
@T.prim_func
def before(A: T.Buffer((8, 8), "float32"), B: T.Buffer((20, 20), "float32")):
    for y, x in T.grid(20, 20):
        with T.block("B"):
            vy, vx = T.axis.remap("SS", [y, x])
            B[vy, vx] = A[vy * 8 // 20, vx * 8 // 20]
# expect-error:
# error: merge: block `index_0` would run on the wrong side of `B`, on which it depends, or which depends on it
#    --> before:9:9
#    |
#  9 |         with T.block("index_0"):
#    |         ^^^^^^^^^^^^^^^^^^^^^^^^ block "index_0"
#    .
# 21 |         with T.block("B"):
#    |         ------------------ block "B"
