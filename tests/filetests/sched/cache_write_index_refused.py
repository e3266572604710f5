# test: sched
# run: cache_write(block("C"), 1, "local")
@T.prim_func
def before(A: T.Buffer((32, 32), "float32"), B: T.Buffer((32, 32), "float32"), C: T.Buffer((32, 32), "float32")):
    for i, j, k in T.grid(32, 32, 32):
        with T.block("C"):
            vi, vj, vk = T.axis.remap("SSR", [i, j, k])
            with T.init():
                C[vi, vj] = T.float32(0)
            C[vi, vj] = C[vi, vj] + A[vi, vk] * B[vk, vj]
# expect-error:
# error: cache_write: buffer index 1 is out of range: block `C` has 1 such regions
#   --> before:7:9
#   |
# 7 |         with T.block("C"):
#   |         ^^^^^^^^^^^^^^^^^^ block "C"
