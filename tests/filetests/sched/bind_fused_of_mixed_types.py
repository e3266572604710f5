# test: sched
# run: r, c0 = split(loop("B", 1), [None, 8])
# run: f = fuse([loop("B", 0), r])
# run: f0, f1 = split(f, [None, 32])
# run: bind(f0, "blockIdx.x")
# run: bind(f1, "threadIdx.x")
# A fused loop has the type of the widest of its loops.
@T.prim_func
def before(a: T.handle, b: T.handle):
    n = T.int64()
    A = T.match_buffer(a, (n, 64), "float32")
    B = T.match_buffer(b, (n, 64), "float32")
    for i, j in T.grid(n, 64):
        with T.block("B"):
            vi, vj = T.axis.remap("SS", [i, j])
            B[vi, vj] = A[vi, vj] * T.float32(2)
# expect:
# from tvm.script import tir as T

@T.prim_func
def after(a: T.handle, b: T.handle):
    n = T.int64()
    A = T.match_buffer(a, (n, 64))
    B = T.match_buffer(b, (n, 64))
    # with T.block("root"):
    for i_j_0_fused_0 in T.thread_binding((n + T.int64(3)) // T.int64(4), thread="blockIdx.x"):
        for i_j_0_fused_1 in T.thread_binding(T.int64(32), thread="threadIdx.x"):
            for j_1 in range(8):
                with T.block("B"):
                    vi = T.axis.spatial(n, (i_j_0_fused_0 * T.int64(32) + i_j_0_fused_1) // T.int64(8))
                    vj = T.axis.spatial(64, T.Cast("int32", (i_j_0_fused_0 * T.int64(32) + i_j_0_fused_1) % T.int64(8) * T.int64(8) + T.Cast("int64", j_1)))
                    T.where(i_j_0_fused_0 * T.int64(32) + i_j_0_fused_1 < n * T.int64(8))
                    T.reads(A[vi, vj])
                    T.writes(B[vi, vj])
                    B[vi, vj] = A[vi, vj] * T.float32(2)
