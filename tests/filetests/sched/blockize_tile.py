# test: sched
# run: i0, i1 = split(loop("C", 0), [None, 8])
# run: j0, j1 = split(loop("C", 2), [None, 8])
# run: k0, k1 = split(loop("C", 4), [None, 8])
# run: reorder([i0, j0, k0, i1, j1, k1])
# run: blockize(i1)
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
    for i_0, j_0, k_0 in T.grid(4, 5, 3):
        with T.block("C_o"):
            vi_o, vj_o, vk_o = T.axis.remap("SSR", [i_0, j_0, k_0])
            T.reads(A[vi_o * 8:vi_o * 8 + 8, vk_o * 8:vk_o * 8 + 8], B[vk_o * 8:vk_o * 8 + 8, vj_o * 8:vj_o * 8 + 8])
            T.writes(C[vi_o * 8:vi_o * 8 + 8, vj_o * 8:vj_o * 8 + 8])
            with T.init():
                for i_1, j_1 in T.grid(8, 8):
                    with T.block("C_init"):
                        vi_i_init, vj_i_init = T.axis.remap("SS", [i_1, j_1])
                        T.reads()
                        T.writes(C[vi_o * 8 + vi_i_init, vj_o * 8 + vj_i_init])
                        C[vi_o * 8 + vi_i_init, vj_o * 8 + vj_i_init] = T.float32(0)
            for i_1, j_1, k_1 in T.grid(8, 8, 8):
                with T.block("C"):
                    vi_i, vj_i, vk_i = T.axis.remap("SSR", [i_1, j_1, k_1])
                    T.reads(C[vi_o * 8 + vi_i, vj_o * 8 + vj_i], A[vi_o * 8 + vi_i, vk_o * 8 + vk_i], B[vk_o * 8 + vk_i, vj_o * 8 + vj_i])
                    T.writes(C[vi_o * 8 + vi_i, vj_o * 8 + vj_i])
                    C[vi_o * 8 + vi_i, vj_o * 8 + vj_i] = C[vi_o * 8 + vi_i, vj_o * 8 + vj_i] + A[vi_o * 8 + vi_i, vk_o * 8 + vk_i] * B[vk_o * 8 + vk_i, vj_o * 8 + vj_i]
