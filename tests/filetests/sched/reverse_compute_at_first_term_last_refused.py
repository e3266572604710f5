# test: sched
# run: reverse_compute_at(block("D"), loop("C", 0))
@T.prim_func
def before(A: T.Buffer((64,), "float32"), D: T.Buffer((1,), "float32")):
    C = T.alloc_buffer((64,), "float32")
    for i in range(64):
        with T.block("C"):
            vi = T.axis.spatial(64, 63 - i)
            C[vi] = A[vi] * T.float32(2)
    for o, k in T.grid(1, 64):
        with T.block("D"):
            vo = T.axis.spatial(1, o)
            vk = T.axis.reduce(64, k)
            with T.init():
                D[vo] = T.float32(0)
            D[vo] = D[vo] + C[vk]
# expect-error:
# error: reverse_compute_at: under loop `i`, reduction `D` would not add each term once, or not begin with the first
#    --> before:14:9
#    |
#  7 |     for i in range(64):
#    |     ------------------- loop `i`
#    .
# 14 |         with T.block("D"):
#    |         ^^^^^^^^^^^^^^^^^^ block "D"
