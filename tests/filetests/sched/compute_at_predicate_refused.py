# test: sched
# run: compute_at(block("S"), loop("C", 0))
@T.prim_func
def before(A: T.Buffer((8, 10), "float32"), C: T.Buffer((8,), "float32")):
    S = T.alloc_buffer((8,), "float32")
    for i, k in T.grid(8, 10):
        with T.block("S"):
            vi, vk = T.axis.remap("SR", [i, k])
            T.where(k < 5)
            with T.init():
                S[vi] = T.float32(0)
            S[vi] = S[vi] + A[vi, vk]
    for i in range(8):
        with T.block("C"):
            vi = T.axis.spatial(8, i)
            C[vi] = S[vi] * T.float32(2)
# expect-error:
# error: compute_at: the predicate k < 5 of block `S` says more than the domains of its iter variables, and would be lost
#   --> before:8:9
#   |
# 8 |         with T.block("S"):
#   |         ^^^^^^^^^^^^^^^^^^ block "S"
