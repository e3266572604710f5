# test: sched
# run: reverse_compute_at(block("Z"), loop("Y", 0))
@T.prim_func
def before(x: T.handle, z: T.handle):
    n, m = T.int64(), T.int64()
    X = T.match_buffer(x, (n, m), "float32")
    Z = T.match_buffer(z, (n, m), "float32")
    Y = T.alloc_buffer((m, n), "float32")
    for i, j in T.grid(m, n):
        with T.block("Y"):
            vi, vj = T.axis.remap("SS", [i, j])
            Y[vi, vj] = X[vj, vi] + T.float32(1)
    for i, j in T.grid(n, m):
        with T.block("Z"):
            vi, vj = T.axis.remap("SS", [i, j])
            Z[vi, vj] = Y[m - 1 - vj, vi] * T.float32(2)
# expect:
# from tvm.script import tir as T

@T.prim_func
def after(x: T.handle, z: T.handle):
    n, m = T.int64(), T.int64()
    X = T.match_buffer(x, (n, m))
    Z = T.match_buffer(z, (n, m))
    # with T.block("root"):
    Y = T.alloc_buffer((m, n))
    for i in range(m):
        for j in range(n):
            with T.block("Y"):
                vi, vj = T.axis.remap("SS", [i, j])
                T.reads(X[vj, vi])
                T.writes(Y[vi, vj])
                Y[vi, vj] = X[vj, vi] + T.float32(1)
        for ax0 in range(n):
            with T.block("Z"):
                vi = T.axis.spatial(n, ax0)
                vj = T.axis.spatial(m, m - i - T.int64(1))
                T.reads(Y[m - T.int64(1) - vj, vi])
                T.writes(Z[vi, vj])
                Z[vi, vj] = Y[m - T.int64(1) - vj, vi] * T.float32(2)
