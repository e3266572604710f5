# test: sched
# run: reverse_compute_at(block("D"), loop("C", 1))
@T.prim_func
def before(A: T.Buffer((8, 4), "float32"), D: T.Buffer((1,), "float32")):
    C = T.alloc_buffer((8,), "float32")
    for i, r in T.grid(8, 4):
        with T.block("C"):
            vi = T.axis.spatial(8, i)
            vr = T.axis.reduce(4, r)
            with T.init():
                C[vi] = T.float32(0)
            C[vi] = C[vi] + A[vi, vr]
    for o, k in T.grid(1, 8):
        with T.block("D"):
            vo = T.axis.spatial(1, o)
            vk = T.axis.reduce(8, k)
            with T.init():
                D[vo] = T.float32(0)
            D[vo] = D[vo] + C[vk]
# expect-error:
# error: reverse_compute_at: under loop `r`, reduction `D` would not add each term once, or not begin with the first
#    --> before:16:9
#    |
#  7 |     for i, r in T.grid(8, 4):
#    |     ------------------------- loop `r`
#    .
# 16 |         with T.block("D"):
#    |         ^^^^^^^^^^^^^^^^^^ block "D"
