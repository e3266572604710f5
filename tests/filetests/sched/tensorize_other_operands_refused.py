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
            C[vi, vj] = C[vi, vj] + A[vi, vk] + B[vk, vj]
# expect-error:
# error: tensorize: block `C_update_o` is not what tensor intrinsic `mma` describes: block "root", loop `i_0`, loop `j_0`, loop `k_0`, block "C_update_o", loop `i`, loop `j`, loop `k`, block "C_update", stored value: C[vi_o * 4 + vi, vj_o * 4 + vj] is not C[vi_o * 4 + vi_i, vj_o * 4 + vj_i] + A[vi_o * 4 + vi_i, vk_o * 4 + vk_i]
#    --> before:14:9
#    |
# 14 |         for k_0, i_1, j_1, k_1 in T.grid(3, 4, 4, 4):
#    |         ^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^ loop `i_1`
