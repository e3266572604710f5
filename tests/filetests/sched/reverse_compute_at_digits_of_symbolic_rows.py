# test: sched
# run: f = fuse([loop("B", 0), loop("B", 1)])
# run: g, t = split(f, [None, 32])
# run: reverse_compute_at(block("C"), t)
@T.prim_func
def before(pa: T.handle, pc: T.handle):
    b, s = T.int64(), T.int64()
    A = T.match_buffer(pa, (b, s), "float32")
    C = T.match_buffer(pc, (b, s), "float32")
    B = T.alloc_buffer((b, s), "float32")
    for i, j in T.grid(b, s):
        with T.block("B"):
            vi, vj = T.axis.remap("SS", [i, j])
            B[vi, vj] = A[vi, vj] * T.float32(2)
    for i, j in T.grid(b, s):
        with T.block("C"):
            vi, vj = T.axis.remap("SS", [i, j])
            C[vi, vj] = B[vi, vj] + T.float32(1)
# expect:
# from tvm.script import tir as T

@T.prim_func
def after(pa: T.handle, pc: T.handle):
    b, s = T.int64(), T.int64()
    A = T.match_buffer(pa, (b, s))
    C = T.match_buffer(pc, (b, s))
    # with T.block("root"):
    B = T.alloc_buffer((b, s))
    for i_j_fused_0, i_j_fused_1 in T.grid((b * s + T.int64(31)) // T.int64(32), T.int64(32)):
        with T.block("B"):
            vi = T.axis.spatial(b, (i_j_fused_0 * T.int64(32) + i_j_fused_1) // s)
            vj = T.axis.spatial(s, (i_j_fused_0 * T.int64(32) + i_j_fused_1) % s)
            T.where(i_j_fused_0 * T.int64(32) + i_j_fused_1 < b * s)
            T.reads(A[vi, vj])
            T.writes(B[vi, vj])
            B[vi, vj] = A[vi, vj] * T.float32(2)
        with T.block("C"):
            vi = T.axis.spatial(b, (i_j_fused_0 * T.int64(32) + i_j_fused_1) // s)
            vj = T.axis.spatial(s, (i_j_fused_0 * T.int64(32) + i_j_fused_1) % s)
            T.where((i_j_fused_0 * T.int64(32) + i_j_fused_1) // s < b)
            T.reads(B[vi, vj])
            T.writes(C[vi, vj])
            C[vi, vj] = B[vi, vj] + T.float32(1)
