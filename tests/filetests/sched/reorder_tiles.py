# test: sched
# run: i0, i1 = split(loop("C", 0), [None, 8])
# run: j0, j1 = split(loop("C", 2), [None, 4])
# run: k0, k1 = split(loop("C", 4), [None, 16])
# run: reorder([i0, j0, k0, k1, i1, j1])
@T.prim_func
def before(A: T.Buffer((32, 32), "float32"), B: T.Buffer((32, 32), "float32"), C: T.Buffer((32, 32), "float32")):
    for i, j, k in T.grid(32, 32, 32):
        with T.block("C"):
            vi, vj, vk = T.axis.remap("SSR", [i, j, k])
            with T.init():
                C[vi, vj] = T.float32(0)
            C[vi, vj] = C[vi, vj] + A[vi, vk] * B[vk, vj]
# expect:
# from tvm.script import tir as T

@T.prim_func
def after(A: T.Buffer((32, 32), "float32"), B: T.Buffer((32, 32), "float32"), C: T.Buffer((32, 32), "float32")):
    # with T.block("root"):
    for i_0, j_0, k_0, k_1, i_1, j_1 in T.grid(4, 8, 2, 16, 8, 4):
        with T.block("C"):
            vi = T.axis.spatial(32, i_0 * 8 + i_1)
            vj = T.axis.spatial(32, j_0 * 4 + j_1)
            vk = T.axis.reduce(32, k_0 * 16 + k_1)
            T.reads(A[vi, vk], B[vk, vj])
            T.writes(C[vi, vj])
            with T.init():
                C[vi, vj] = T.float32(0)
            C[vi, vj] = C[vi, vj] + A[vi, vk] * B[vk, vj]
