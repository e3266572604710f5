# test: sched
# run: fuse([loop("S", 0), loop("S", 1)])
# run: split(loop("S", 0), [15, 16])
# run: reorder([loop("S", 1), loop("S", 0)])
@T.prim_func
def before(A: T.Buffer((12, 20), "float32"), S: T.Buffer((12,), "float32")):
    for i in range(12):
        for k in range(20):
            with T.block("S"):
                vi, vk = T.axis.remap("SR", [i, k])
                with T.init():
                    S[vi] = T.float32(0)
                S[vi] = S[vi] + A[vi, vk]

# expect-error:
# error: reorder: loops `i_k_fused_0` and `i_k_fused_1` choose elements and terms of block `S` together: in another order its init would run after some terms
#   --> before:6:5
#   |
# 6 |     for i_k_fused_0, i_k_fused_1 in T.grid(15, 16):
#   |     ^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^
#   |     |
#   |     loop `i_k_fused_0`
#   |     loop `i_k_fused_1`
# 7 |         with T.block("S"):
#   |         ------------------ block "S"
