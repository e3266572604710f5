# test: sched
# run: cache_index("B", "global", 0)
@T.prim_func
def before(A: T.Buffer((20, 20), "float32"), B: T.Buffer((20, 20), "float32")):
    for y, x in T.grid(20, 20):
        with T.block("B"):
            vy, vx = T.axis.remap("SS", [y, x])
            B[vy, vx] = A[vy, vx]
# expect-error:
# error: cache_index: block `B` computes 0 value(s) of its iter variables often enough, it takes two
#   --> before:7:9
#   |
# 7 |         with T.block("B"):
#   |         ^^^^^^^^^^^^^^^^^^ block "B"
