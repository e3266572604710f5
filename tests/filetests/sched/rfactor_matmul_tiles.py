# test: sched
# run: i0, i1 = split(loop("C", 0), [None, 7])
# run: k0, k1 = split(loop("C", 3), [None, 5])
# run: rfactor(k1, 1)
@T.prim_func
def before(A: T.Buffer((32, 24), "float32"), B: T.Buffer((24, 40), "float32"), C: T.Buffer((32, 40), "float32")):
    for i, j, k in T.grid(32, 40, 24):
        with T.block("C"):
            vi, vj, vk = T.axis.remap("SSR", [i, j, k])
            with T.init():
                C[vi, vj] = T.float32(0)
            C[vi, vj] = C[vi, vj] + A[vi, vk] * B[vk, vj]
# expect:
# from tvm.script import tir as T

@T.prim_func
def after(A: T.Buffer((32, 24), "float32"), B: T.Buffer((24, 40), "float32"), C: T.Buffer((32, 40), "float32")):
    # with T.block("root"):
    C_rf = T.alloc_buffer((32, 5, 40))
    for i_0, i_1, j, k_0, k_1 in T.grid(5, 7, 40, 5, 5):
        with T.block("C_rf"):
            vk_1 = T.axis.spatial(5, k_1)
            vi = T.axis.spatial(32, i_0 * 7 + i_1)
            vj, vk_0 = T.axis.remap("SR", [j, k_0])
            T.where(i_0 * 7 + i_1 < 32 and k_0 * 5 + k_1 < 24)
            T.reads(A[vi, vk_0 * 5 + vk_1], B[vk_0 * 5 + vk_1, vj])
            T.writes(C_rf[vi, vk_1, vj])
            with T.init():
                C_rf[vi, vk_1, vj] = T.float32(0)
            C_rf[vi, vk_1, vj] = C_rf[vi, vk_1, vj] + A[vi, vk_0 * 5 + vk_1] * B[vk_0 * 5 + vk_1, vj]
    for i_0, i_1, j, k_1 in T.grid(5, 7, 40, 5):
        with T.block("C"):
            vk_1 = T.axis.reduce(5, k_1)
            vi = T.axis.spatial(32, i_0 * 7 + i_1)
            vj = T.axis.spatial(40, j)
            T.where(i_0 * 7 + i_1 < 32)
            T.reads(C_rf[vi, vk_1, vj])
            T.writes(C[vi, vj])
            with T.init():
                C[vi, vj] = T.float32(0)
            C[vi, vj] = C[vi, vj] + C_rf[vi, vk_1, vj]
