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
            out[vi, vj] = T.float32(3) + (mm[vi, vj] + b[vj])
# expect:
# from tvm.script import tir as T

@T.prim_func
def after(A: T.Buffer((20, 16), "float32"), W: T.Buffer((16, 24), "float32"), b: T.Buffer((24,), "float32"), out: T.Buffer((20, 24), "float32")):
    # with T.block("root"):
    mm = T.alloc_buffer((20, 24))
    for i, j, k in T.grid(20, 24, 16):
        with T.block("matmul"):
            vi, vj, vk = T.axis.remap("SSR", [i, j, k])
            T.reads(b[vj], A[vi, vk], W[vk, vj])
            T.writes(out[vi, vj])
            with T.init():
                out[vi, vj] = b[vj] + T.float32(3)
            out[vi, vj] = out[vi, vj] + A[vi, vk] * W[vk, vj]
