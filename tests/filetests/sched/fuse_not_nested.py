# test: sched
# run: fuse([loop("C", 0), loop("C", 2)])
@T.prim_func
def before(A: T.Buffer((32, 16), "float32"), B: T.Buffer((16, 24), "float32"), C: T.Buffer((32, 24), "float32")):
    for i, j, k in T.grid(32, 24, 16):
        with T.block("C"):
            vi, vj, vk = T.axis.remap("SSR", [i, j, k])
            with T.init():
                C[vi, vj] = T.float32(0)
            C[vi, vj] = C[vi, vj] + A[vi, vk] * B[vk, vj]

# expect-error:
# error: fuse: loop `i` is not the parent of loop `k`
#   --> before:6:5
#   |
# 6 |     for i, j, k in T.grid(32, 24, 16):
#   |     ^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^
#   |     |
#   |     loop `i`
#   |     loop `k`
