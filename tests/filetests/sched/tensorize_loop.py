# test: sched
# run: i0, i1 = split(loop("C", 0), [None, 4])
# run: j0, j1 = split(loop("C", 2), [None, 4])
# run: k0, k1 = split(loop("C", 4), [None, 4])
# run: reorder([i0, j0, k0, i1, j1, k1])
# run: decompose_reduction(block("C"), k0)
# run: tensorize(i1, "mma")
@T.prim_func
def mma_description(a: T.handle, b: T.handle, c: T.handle):
    A = T.match_buffer(a, (4, 4), "float32")
    B = T.match_buffer(b, (4, 4), "float32")
    C = T.match_buffer(c, (4, 4), "float32")
    for i, j, k in T.grid(4, 4, 4):
        with T.block("update"):
            vi, vj, vk = T.axis.remap("SSR", [i, j, k])
            C[vi, vj] = C[vi, vj] + A[vi, vk] * B[vk, vj]

@T.prim_func
def mma_implementation(a: T.handle, b: T.handle, c: T.handle):
    sa, sb, sc = T.int32(), T.int32(), T.int32()
    A = T.match_buffer(a, (4, 4), "float32", strides=[sa, 1], offset_factor=1)
    B = T.match_buffer(b, (4, 4), "float32", strides=[sb, 1], offset_factor=1)
    C = T.match_buffer(c, (4, 4), "float32", strides=[sc, 1], offset_factor=1)
    for i, k in T.grid(4, 4):
        for j in T.vectorized(4):
            with T.block("row"):
                vi, vk, vj = T.axis.remap("SRS", [i, k, j])
                C[vi, vj] = C[vi, vj] + A[vi, vk] * B[vk, vj]

@T.prim_func
def before(A: T.Buffer((16, 12), "float32"), B: T.Buffer((12, 8), "float32"), C: T.Buffer((16, 8), "float32")):
    for i, j, k in T.grid(16, 8, 12):
        with T.block("C"):
            vi, vj, vk = T.axis.remap("SSR", [i, j, k])
            with T.init():
                C[vi, vj] = T.float32(0)
            C[vi, vj] = C[vi, vj] + A[vi, vk] * B[vk, vj]
# expect:
# from tvm.script import tir as T

@T.prim_func
def after(A: T.Buffer((16, 12), "float32"), B: T.Buffer((12, 8), "float32"), C: T.Buffer((16, 8), "float32")):
    # with T.block("root"):
    for i_0, j_0 in T.grid(4, 2):
        for i_1_init, j_1_init in T.grid(4, 4):
            with T.block("C_init"):
                vi = T.axis.spatial(16, i_0 * 4 + i_1_init)
                vj = T.axis.spatial(8, j_0 * 4 + j_1_init)
                T.reads()
                T.writes(C[vi, vj])
                C[vi, vj] = T.float32(0)
        for k_0 in range(3):
            with T.block("C_update_o"):
                vi_o, vj_o, vk_o = T.axis.remap("SSR", [i_0, j_0, k_0])
                T.reads(C[vi_o * 4:vi_o * 4 + 4, vj_o * 4:vj_o * 4 + 4], A[vi_o * 4:vi_o * 4 + 4, vk_o * 4:vk_o * 4 + 4], B[vk_o * 4:vk_o * 4 + 4, vj_o * 4:vj_o * 4 + 4])
                T.writes(C[vi_o * 4:vi_o * 4 + 4, vj_o * 4:vj_o * 4 + 4])
                sa, A_elem_offset = T.int32(), T.int32()
                A_1 = T.match_buffer(A[vi_o * 4:vi_o * 4 + 4, vk_o * 4:vk_o * 4 + 4], (4, 4), strides=(sa, 1), elem_offset=A_elem_offset)
                sb, B_elem_offset = T.int32(), T.int32()
                B_1 = T.match_buffer(B[vk_o * 4:vk_o * 4 + 4, vj_o * 4:vj_o * 4 + 4], (4, 4), strides=(sb, 1), elem_offset=B_elem_offset)
                sc, C_elem_offset = T.int32(), T.int32()
                C_1 = T.match_buffer(C[vi_o * 4:vi_o * 4 + 4, vj_o * 4:vj_o * 4 + 4], (4, 4), strides=(sc, 1), elem_offset=C_elem_offset)
                for i, k in T.grid(4, 4):
                    for j in T.vectorized(4):
                        with T.block("row"):
                            vi, vk, vj = T.axis.remap("SRS", [i, k, j])
                            T.reads(C_1[vi, vj], A_1[vi, vk], B_1[vk, vj])
                            T.writes(C_1[vi, vj])
                            C_1[vi, vj] = C_1[vi, vj] + A_1[vi, vk] * B_1[vk, vj]
