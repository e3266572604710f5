# test: sched
# run: cache_index("B", "global", 0)
# run: pad_einsum("B", [3, 3])
# The block reads its indices from buffers that it does not declare: they would be too short.
@T.prim_func
def before(A: T.Buffer((20, 20), "float32"), B: T.Buffer((20, 20), "float32")):
    for y, x in T.grid(20, 20):
        with T.block("B"):
            vy, vx = T.axis.remap("SS", [y, x])
            B[vy, vx] = A[vy, vx] * T.Cast("float32", vy * 8 // 20) + T.Cast("float32", vx * 3 // 20)
# expect-error:
# error: pad_einsum: block `B` is no einsum: it does not use `index_var_0` once, with constants and variables as indices
#    --> before:21:9
#    |
# 21 |         with T.block("B"):
#    |         ^^^^^^^^^^^^^^^^^^ block "B"
