# test: sched
# run: reverse_compute_at(block("D"), loop("C", 1))
@T.prim_func
def before(a: T.handle, D: T.Buffer((8,), "float32")):
    n = T.int64()
    A = T.match_buffer(a, (8, n), "float32")
    C = T.alloc_buffer((8,), "float32")
    for i, k in T.grid(8, n):
        with T.block("C"):
            vi, vk = T.axis.remap("SR", [i, k])
            with T.init():
                C[vi] = T.float32(0)
            C[vi] = C[vi] + A[vi, vk]
    for i in range(8):
        with T.block("D"):
            vi = T.axis.spatial(8, i)
            D[vi] = C[vi] * T.float32(2)
# expect-error:
# error: reverse_compute_at: loop `k` may have no iteration, and then nothing would write the elements of block `D`
#    --> before:9:5
#    |
#  9 |     for i, k in T.grid(8, n):
#    |     ^^^^^^^^^^^^^^^^^^^^^^^^^ loop `k`
#    .
# 18 |         with T.block("D"):
#    |         ------------------ block "D"
