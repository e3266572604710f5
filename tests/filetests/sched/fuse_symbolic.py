# test: sched
# run: f = fuse([loop("B", 0), loop("B", 1)])
# run: split(f, [None, 256])
@T.prim_func
def before(a: T.handle, b: T.handle):
    n, m = T.int64(), T.int64()
    A = T.match_buffer(a, (n, m), "float32")
    B = T.match_buffer(b, (n, m), "float32")
    for i, j in T.grid(n, m):
        with T.block("B"):
            vi, vj = T.axis.remap("SS", [i, j])
            B[vi, vj] = A[vi, vj] * T.float32(2)

# expect:
# from tvm.script import tir as T

@T.prim_func
def after(a: T.handle, b: T.handle):
    n, m = T.int64(), T.int64()
    A = T.match_buffer(a, (n, m))
    B = T.match_buffer(b, (n, m))
    # with T.block("root"):
    for i_j_fused_0, i_j_fused_1 in T.grid((n * m + T.int64(255)) // T.int64(256), T.int64(256)):
        with T.block("B"):
            vi = T.axis.spatial(n, (i_j_fused_0 * T.int64(256) + i_j_fused_1) // m)
            vj = T.axis.spatial(m, (i_j_fused_0 * T.int64(256) + i_j_fused_1) % m)
            T.where(i_j_fused_0 * T.int64(256) + i_j_fused_1 < n * m)
            T.reads(A[vi, vj])
            T.writes(B[vi, vj])
            B[vi, vj] = A[vi, vj] * T.float32(2)
