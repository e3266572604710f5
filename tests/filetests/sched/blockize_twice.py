# test: sched
# run: i0, i1 = split(loop("C", 0), [None, 8])
# run: k0, k1 = split(loop("C", 3), [None, 8])
# run: reorder([i0, k0, i1, loop("C", 2), k1])
# run: inner = blockize(i1)
# run: blockize(k0)
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
    for i_0 in range(4):
        with T.block("C_o_o"):
            vi_o_o = T.axis.spatial(4, i_0)
            vj_o_o = T.axis.spatial(1, 0)
            vk_o_o = T.axis.reduce(1, 0)
            T.reads(A[vi_o_o * 8:vi_o_o * 8 + 8, 0:24], B[0:24, 0:40])
            T.writes(C[vi_o_o * 8:vi_o_o * 8 + 8, 0:40])
            with T.init():
                with T.block("C_o_init"):
                    T.reads()
                    T.writes(C[vi_o_o * 8:vi_o_o * 8 + 8, 0:40])
                    for i_1, j in T.grid(8, 40):
                        with T.block("C_init"):
                            vi_i_init, vj_i_init = T.axis.remap("SS", [i_1, j])
                            T.reads()
                            T.writes(C[vi_o_o * 8 + vi_i_init, vj_i_init])
                            C[vi_o_o * 8 + vi_i_init, vj_i_init] = T.float32(0)
            for k_0 in range(3):
                with T.block("C_o"):
                    vk_o_i = T.axis.reduce(3, k_0)
                    T.reads(C[vi_o_o * 8:vi_o_o * 8 + 8, 0:40], A[vi_o_o * 8:vi_o_o * 8 + 8, vk_o_i * 8:vk_o_i * 8 + 8], B[vk_o_i * 8:vk_o_i * 8 + 8, 0:40])
                    T.writes(C[vi_o_o * 8:vi_o_o * 8 + 8, 0:40])
                    for i_1, j, k_1 in T.grid(8, 40, 8):
                        with T.block("C"):
                            vi_i, vj_i, vk_i = T.axis.remap("SSR", [i_1, j, k_1])
                            T.reads(C[vi_o_o * 8 + vi_i, vj_i], A[vi_o_o * 8 + vi_i, vk_o_i * 8 + vk_i], B[vk_o_i * 8 + vk_i, vj_i])
                            T.writes(C[vi_o_o * 8 + vi_i, vj_i])
                            C[vi_o_o * 8 + vi_i, vj_i] = C[vi_o_o * 8 + vi_i, vj_i] + A[vi_o_o * 8 + vi_i, vk_o_i * 8 + vk_i] * B[vk_o_i * 8 + vk_i, vj_i]
