# test: sched
# run: fuse([loop("C", 0), loop("C", 1)])
# run: bind(loop("C", 0), "threadIdx.x")
@T.prim_func
def before(A: T.Buffer((8, 16), "float32"), C: T.Buffer((8,), "float32")):
    for i, k in T.grid(8, 16):
        with T.block("C"):
            vi, vk = T.axis.remap("SR", [i, k])
            with T.init():
                C[vi] = T.float32(0)
            C[vi] = C[vi] + A[vi, vk]
# expect-error:
# error: bind: loop `i_k_fused` cannot be bound to threadIdx.x: it chooses elements and terms of block `C` together
#   --> before:6:5
#   |
# 6 |     for i_k_fused in range(128):
#   |     ^^^^^^^^^^^^^^^^^^^^^^^^^^^^ loop `i_k_fused`
# 7 |         with T.block("C"):
#   |         ------------------ block "C"
