# test: sched
# run: transform_block_layout(block("C"), "lambda c, i, j, k: (i * 7 + j, c, k)")
@T.prim_func
def before(A: T.Buffer((5, 9, 9), "float32"), B: T.Buffer((6, 5), "float32"), C: T.Buffer((6, 7, 7), "float32")):
    for c, i, j, k in T.grid(6, 7, 7, 5):
        with T.block("C"):
            vc, vi, vj, vk = T.axis.remap("SSSR", [c, i, j, k])
            with T.init():
                C[vc, vi, vj] = T.float32(0)
            C[vc, vi, vj] = C[vc, vi, vj] + A[vk, vi + 2, vj + 1] * B[vc, vk]
# expect:
# from tvm.script import tir as T

@T.prim_func
def after(A: T.Buffer((5, 9, 9), "float32"), B: T.Buffer((6, 5), "float32"), C: T.Buffer((6, 7, 7), "float32")):
    # with T.block("root"):
    for ax0, ax1, ax2 in T.grid(49, 6, 5):
        with T.block("C"):
            v0, v1, v2 = T.axis.remap("SSR", [ax0, ax1, ax2])
            T.reads(A[v2, v0 // 7 + 2, v0 % 7 + 1], B[v1, v2])
            T.writes(C[v1, v0 // 7, v0 % 7])
            with T.init():
                C[v1, v0 // 7, v0 % 7] = T.float32(0)
            C[v1, v0 // 7, v0 % 7] = C[v1, v0 // 7, v0 % 7] + A[v2, v0 // 7 + 2, v0 % 7 + 1] * B[v1, v2]
