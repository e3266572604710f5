# test: sched
# run: split(loop("B", 0), [None, 32])
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
    for i_0, i_1, j in T.grid((n + T.int64(31)) // T.int64(32), T.int64(32), m):
        with T.block("B"):
            vi = T.axis.spatial(n, i_0 * T.int64(32) + i_1)
            vj = T.axis.spatial(m, j)
            T.where(i_0 * T.int64(32) + i_1 < n)
            T.reads(A[vi, vj])
            T.writes(B[vi, vj])
            B[vi, vj] = A[vi, vj] * T.float32(2)
