# test: sched
# run: fuse([loop("C", 0), loop("C", 1)])
@T.prim_func
def before(a: T.handle, C: T.Buffer((8,), "float32")):
    n = T.int64()
    A = T.match_buffer(a, (8, n), "float32")
    for i, k in T.grid(8, n):
        with T.block("C"):
            vi, vk = T.axis.remap("SR", [i, k])
            with T.init():
                C[vi] = T.float32(0)
            C[vi] = C[vi] + A[vi, vk]
# expect-error:
# error: fuse: loop `k` may have no iteration, and then nothing would write the elements of block `C`
#   --> before:8:5
#   |
# 8 |     for i, k in T.grid(8, n):
#   |     ^^^^^^^^^^^^^^^^^^^^^^^^^ loop `k`
# 9 |         with T.block("C"):
#   |         ------------------ block "C"
