# test: sched
# run: w = reindex_cache_write(block("C"), 0, "local", "lambda c, i, j, k: (i * 7 + j, c)")
# run: f = fuse([loop("C", 1), loop("C", 2)])
# run: p0, p1 = split(f, [None, 4])
# run: reorder([p0, loop("C", 0)])
# run: reverse_compute_at(w, p0)
@T.prim_func
def before(A: T.Buffer((5, 9, 9), "float32"), B: T.Buffer((6, 5), "float32"), C: T.Buffer((6, 7, 7), "float32")):
    for c, i, j, k in T.grid(6, 7, 7, 5):
        with T.block("C"):
            vc, vi, vj, vk = T.axis.remap("SSSR", [c, i, j, k])
            with T.init():
                C[vc, vi, vj] = T.float32(0)
            C[vc, vi, vj] = C[vc, vi, vj] + A[vk, vi + 2, vj + 1] * B[vc, vk]
# expect:
# from tvm.script import tir as T

@T.prim_func
def after(A: T.Buffer((5, 9, 9), "float32"), B: T.Buffer((6, 5), "float32"), C: T.Buffer((6, 7, 7), "float32")):
    # with T.block("root"):
    C_local = T.alloc_buffer((49, 6), scope="local")
    for i_j_fused_0 in range(13):
        for c, i_j_fused_1, k in T.grid(6, 4, 5):
            with T.block("C"):
                vc = T.axis.spatial(6, c)
                vi = T.axis.spatial(7, (i_j_fused_0 * 4 + i_j_fused_1) // 7)
                vj = T.axis.spatial(7, (i_j_fused_0 * 4 + i_j_fused_1) % 7)
                vk = T.axis.reduce(5, k)
                T.where(i_j_fused_0 * 4 + i_j_fused_1 < 49)
                T.reads(A[vk, vi + 2, vj + 1], B[vc, vk])
                T.writes(C_local[vi * 7 + vj, vc])
                with T.init():
                    C_local[vi * 7 + vj, vc] = T.float32(0)
                C_local[vi * 7 + vj, vc] = C_local[vi * 7 + vj, vc] + A[vk, vi + 2, vj + 1] * B[vc, vk]
        for ax0, ax1, ax2 in T.grid(6, (i_j_fused_0 * 4 % 7 + 3) // 7 + 1, 7):
            with T.block("C_local"):
                vc = T.axis.spatial(6, ax0)
                vi = T.axis.spatial(7, ax1 + i_j_fused_0 * 4 // 7)
                vj = T.axis.spatial(7, ax2)
                T.where(ax1 + i_j_fused_0 * 4 // 7 < 7)
                T.reads(C_local[vi * 7 + vj, vc])
                T.writes(C[vc, vi, vj])
                C[vc, vi, vj] = C_local[vi * 7 + vj, vc]
