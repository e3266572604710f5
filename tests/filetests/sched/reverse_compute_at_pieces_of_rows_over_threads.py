# test: sched
# run: r, p = split(loop("B", 1), [2, 7])
# run: f = fuse([loop("B", 0), r])
# run: g, t = split(f, [None, 8])
# run: reverse_compute_at(block("C"), t)
@T.prim_func
def before(A: T.Buffer((14, 14), "float32"), C: T.Buffer((14, 14), "float32")):
    B = T.alloc_buffer((14, 14), "float32", scope="local")
    for i, j in T.grid(14, 14):
        with T.block("B"):
            vi, vj = T.axis.remap("SS", [i, j])
            B[vi, vj] = A[vi, vj] * T.float32(2)
    for i, j in T.grid(14, 14):
        with T.block("C"):
            vi, vj = T.axis.remap("SS", [i, j])
            C[vi, vj] = B[vi, vj] + T.float32(1)
# expect:
# from tvm.script import tir as T

@T.prim_func
def after(A: T.Buffer((14, 14), "float32"), C: T.Buffer((14, 14), "float32")):
    # with T.block("root"):
    B = T.alloc_buffer((14, 14), scope="local")
    for i_j_0_fused_0, i_j_0_fused_1 in T.grid(4, 8):
        for j_1 in range(7):
            with T.block("B"):
                vi = T.axis.spatial(14, (i_j_0_fused_0 * 8 + i_j_0_fused_1) // 2)
                vj = T.axis.spatial(14, (i_j_0_fused_0 * 8 + i_j_0_fused_1) % 2 * 7 + j_1)
                T.where(i_j_0_fused_0 * 8 + i_j_0_fused_1 < 28)
                T.reads(A[vi, vj])
                T.writes(B[vi, vj])
                B[vi, vj] = A[vi, vj] * T.float32(2)
        for ax0 in range(7):
            with T.block("C"):
                vi = T.axis.spatial(14, i_j_0_fused_0 * 4 + i_j_0_fused_1 // 2)
                vj = T.axis.spatial(14, i_j_0_fused_1 % 2 * 7 + ax0)
                T.where(i_j_0_fused_0 * 4 + i_j_0_fused_1 // 2 < 14)
                T.reads(B[vi, vj])
                T.writes(C[vi, vj])
                C[vi, vj] = B[vi, vj] + T.float32(1)
