# test: sched
# run: i0, i1 = split(loop("C", 0), [None, 8])
# run: j0, j1 = split(loop("C", 2), [None, 4])
# run: k0, k1 = split(loop("C", 4), [None, 16])
# run: reorder([i0, j0, k0, k1, i1, j1])
# run: decompose_reduction(block("C"), k0)
@T.prim_func
def before(a: T.handle, b: T.handle, c: T.handle):
    n = T.int32()
    A = T.match_buffer(a, (n, 32), "float32")
    B = T.match_buffer(b, (32, 24), "float32")
    C = T.match_buffer(c, (n, 24), "float32")
    for i, j, k in T.grid(n, 24, 32):
        with T.block("C"):
            vi, vj, vk = T.axis.remap("SSR", [i, j, k])
            with T.init():
                C[vi, vj] = T.float32(0)
            C[vi, vj] = C[vi, vj] + A[vi, vk] * B[vk, vj]
# expect:
# from tvm.script import tir as T

@T.prim_func
def after(a: T.handle, B: T.Buffer((32, 24), "float32"), c: T.handle):
    n = T.int32()
    A = T.match_buffer(a, (n, 32))
    C = T.match_buffer(c, (n, 24))
    # with T.block("root"):
    for i_0, j_0 in T.grid((n + 7) // 8, 6):
        for i_1_init, j_1_init in T.grid(8, 4):
            with T.block("C_init"):
                vi = T.axis.spatial(n, i_0 * 8 + i_1_init)
                vj = T.axis.spatial(24, j_0 * 4 + j_1_init)
                T.where(i_0 * 8 + i_1_init < n)
                T.reads()
                T.writes(C[vi, vj])
                C[vi, vj] = T.float32(0)
        for k_0, k_1, i_1, j_1 in T.grid(2, 16, 8, 4):
            with T.block("C_update"):
                vi = T.axis.spatial(n, i_0 * 8 + i_1)
                vj = T.axis.spatial(24, j_0 * 4 + j_1)
                vk = T.axis.reduce(32, k_0 * 16 + k_1)
                T.where(i_0 * 8 + i_1 < n)
                T.reads(C[vi, vj], A[vi, vk], B[vk, vj])
                T.writes(C[vi, vj])
                C[vi, vj] = C[vi, vj] + A[vi, vk] * B[vk, vj]
