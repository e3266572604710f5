# test: sched
# run: k0, k1 = split(loop("B", 1), [None, 8])
# run: partial = rfactor(k1, 1)
# run: parallel(loop("B_rf", 2))
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
    B_rf = T.alloc_buffer((16, 8))
    for i, k_0 in T.grid(16, 8):
        for k_1 in T.parallel(8):
            with T.block("B_rf"):
                vk_1, vi, vk_0 = T.axis.remap("SSR", [k_1, i, k_0])
                T.reads(A[vi, vk_0 * 8 + vk_1])
                T.writes(B_rf[vi, vk_1])
                with T.init():
                    B_rf[vi, vk_1] = T.float32(0)
                B_rf[vi, vk_1] = B_rf[vi, vk_1] + A[vi, vk_0 * 8 + vk_1]
    for i, k_1 in T.grid(16, 8):
        with T.block("B"):
            vk_1, vi = T.axis.remap("RS", [k_1, i])
            T.reads(B_rf[vi, vk_1])
            T.writes(B[vi])
            with T.init():
                B[vi] = T.float32(0)
            B[vi] = B[vi] + B_rf[vi, vk_1]
