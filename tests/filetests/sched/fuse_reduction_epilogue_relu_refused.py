# test: sched
# run: fuse_reduction_epilogue("matmul", "bias")
@T.prim_func
def before(A: T.Buffer((20, 16), "float32"), W: T.Buffer((16, 24), "float32"), b: T.Buffer((24,), "float32"), out: T.Buffer((20, 24), "float32")):
    mm = T.alloc_buffer((20, 24), "float32")
    for i, j, k in T.grid(20, 24, 16):
        with T.block("matmul"):
            vi, vj, vk = T.axis.remap("SSR", [i, j, k])
            with T.init():
                mm[vi, vj] = T.float32(0)
            mm[vi, vj] = mm[vi, vj] + A[vi, vk] * W[vk, vj]
    for i, j in T.grid(20, 24):
        with T.block("bias"):
            vi, vj = T.axis.remap("SS", [i, j])
            out[vi, vj] = T.max(mm[vi, vj] + b[vj], T.float32(0))
# expect-error:
# error: fuse_reduction_epilogue: block `bias` cannot go into the init of reduction `matmul`: the epilogue stores no sum of the result and something else
#    --> before:8:9
#    |
#  8 |         with T.block("matmul"):
#    |         ^^^^^^^^^^^^^^^^^^^^^^^ block "matmul"
#    .
# 16 |         with T.block("bias"):
#    |         --------------------- block "bias"
