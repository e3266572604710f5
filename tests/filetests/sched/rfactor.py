# test: sched
# run: k0, k1 = split(loop("B", 1), [None, 8])
# run: rfactor(k0, 0)
@T.prim_func
def before(A: T.Buffer((16, 64), "float32"), B: T.Buffer((16,), "float32")):
    for i, k in T.grid(16, 64):
        with T.block("B"):
            vi, vk = T.axis.remap("SR", [i, k])
            with T.init():
                B[vi] = T.float32(0)
            B[vi] = B[vi] + A[vi, vk]
# expect:
# from tvm.script import tir as T

@T.prim_func
def after(A: T.Buffer((16, 64), "float32"), B: T.Buffer((16,), "float32")):
    # with T.block("root"):
    B_rf = T.alloc_buffer((8, 16))
    for i, k_0, k_1 in T.grid(16, 8, 8):
        with T.block("B_rf"):
            vk_0, vi, vk_1 = T.axis.remap("SSR", [k_0, i, k_1])
            T.reads(A[vi, vk_0 * 8 + vk_1])
            T.writes(B_rf[vk_0, vi])
            with T.init():
                B_rf[vk_0, vi] = T.float32(0)
            B_rf[vk_0, vi] = B_rf[vk_0, vi] + A[vi, vk_0 * 8 + vk_1]
    for i, k_0 in T.grid(16, 8):
        with T.block("B"):
            vk_0, vi = T.axis.remap("RS", [k_0, i])
            T.reads(B_rf[vk_0, vi])
            T.writes(B[vi])
            with T.init():
                B[vi] = T.float32(0)
            B[vi] = B[vi] + B_rf[vk_0, vi]
