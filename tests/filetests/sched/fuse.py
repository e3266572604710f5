# test: sched
# run: fuse([loop("C", 0), loop("C", 1)])
@T.prim_func
def before(A: T.Buffer((32, 16), "float32"), B: T.Buffer((16, 24), "float32"), C: T.Buffer((32, 24), "float32")):
    for i, j, k in T.grid(32, 24, 16):
        with T.block("C"):
            vi, vj, vk = T.axis.remap("SSR", [i, j, k])
            with T.init():
                C[vi, vj] = T.float32(0)
            C[vi, vj] = C[vi, vj] + A[vi, vk] * B[vk, vj]

# expect:
# from tvm.script import tir as T

@T.prim_func
def after(A: T.Buffer((32, 16), "float32"), B: T.Buffer((16, 24), "float32"), C: T.Buffer((32, 24), "float32")):
    # with T.block("root"):
    for i_j_fused, k in T.grid(768, 16):
        with T.block("C"):
            vi = T.axis.spatial(32, i_j_fused // 24)
            vj = T.axis.spatial(24, i_j_fused % 24)
            vk = T.axis.reduce(16, k)
            T.reads(A[vi, vk], B[vk, vj])
            T.writes(C[vi, vj])
            with T.init():
                C[vi, vj] = T.float32(0)
            C[vi, vj] = C[vi, vj] + A[vi, vk] * B[vk, vj]
