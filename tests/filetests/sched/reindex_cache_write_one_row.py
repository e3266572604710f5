# test: sched
# run: w = reindex_cache_write(block("C"), 0, "local", "lambda n, c, i, j, k: (n, i * 8 + j, c)")
# run: reorder([loop("C", 0), loop("C", 2), loop("C", 3), loop("C", 1)])
# run: f = fuse([loop("C", 1), loop("C", 2)])
# run: p0, p1, p2 = split(f, [None, 4, 2])
# run: c0, c1 = split(loop("C", 4), [None, 4])
# run: reorder([p0, c0, p1, p2, c1])
# run: reverse_compute_at(w, c0, True)
@T.prim_func
def before(A: T.Buffer((1, 5, 9, 9), "float32"), B: T.Buffer((8, 5), "float32"), C: T.Buffer((1, 8, 4, 8), "float32")):
    for n, c, i, j, k in T.grid(1, 8, 4, 8, 5):
        with T.block("C"):
            vn, vc, vi, vj, vk = T.axis.remap("SSSSR", [n, c, i, j, k])
            with T.init():
                C[vn, vc, vi, vj] = T.float32(0)
            C[vn, vc, vi, vj] = C[vn, vc, vi, vj] + A[vn, vk, vi + 2, vj + 1] * B[vc, vk]
# expect:
# from tvm.script import tir as T

@T.prim_func
def after(A: T.Buffer((1, 5, 9, 9), "float32"), B: T.Buffer((8, 5), "float32"), C: T.Buffer((1, 8, 4, 8), "float32")):
    # with T.block("root"):
    C_local = T.alloc_buffer((1, 32, 8), scope="local")
    for n, i_j_fused_0, c_0 in T.grid(1, 4, 2):
        for i_j_fused_1, i_j_fused_2, c_1, k in T.grid(4, 2, 4, 5):
            with T.block("C"):
                vn = T.axis.spatial(1, n)
                vc = T.axis.spatial(8, c_0 * 4 + c_1)
                vi = T.axis.spatial(4, (i_j_fused_0 * 8 + i_j_fused_1 * 2 + i_j_fused_2) // 8)
                vj = T.axis.spatial(8, (i_j_fused_0 * 8 + i_j_fused_1 * 2 + i_j_fused_2) % 8)
                vk = T.axis.reduce(5, k)
                T.reads(A[vn, vk, vi + 2, vj + 1], B[vc, vk])
                T.writes(C_local[vn, vi * 8 + vj, vc])
                with T.init():
                    C_local[vn, vi * 8 + vj, vc] = T.float32(0)
                C_local[vn, vi * 8 + vj, vc] = C_local[vn, vi * 8 + vj, vc] + A[vn, vk, vi + 2, vj + 1] * B[vc, vk]
        for ax0, ax1, ax2, ax3 in T.grid(1, 4, 1, 8):
            with T.block("C_local"):
                vn = T.axis.spatial(1, 0)
                vc = T.axis.spatial(8, c_0 * 4 + ax1)
                vi, vj = T.axis.remap("SS", [i_j_fused_0, ax3])
                T.reads(C_local[vn, vi * 8 + vj, vc])
                T.writes(C[vn, vc, vi, vj])
                C[vn, vc, vi, vj] = C_local[vn, vi * 8 + vj, vc]
