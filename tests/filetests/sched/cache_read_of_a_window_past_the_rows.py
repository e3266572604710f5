# test: sched
# run: g, t = split(loop("C", 0), [None, 8])
# run: reorder([g, t, loop("C", 3), loop("C", 2)])
# run: c = cache_read(block("C"), 0, "local")
# run: compute_at(c, loop("C", 2))
# run: d = cache_read(block("C"), 1, "local")
@T.prim_func
def before(A: T.Buffer((16, 5), "float32"), W: T.Buffer((3,), "float32"), C: T.Buffer((14, 5), "float32")):
    for i, j, r in T.grid(14, 5, 3):
        with T.block("C"):
            vi, vj, vr = T.axis.remap("SSR", [i, j, r])
            with T.init():
                C[vi, vj] = T.float32(0)
            C[vi, vj] = C[vi, vj] + A[vi + vr, vj] * W[vr]
# expect:
# from tvm.script import tir as T

@T.prim_func
def after(A: T.Buffer((16, 5), "float32"), W: T.Buffer((3,), "float32"), C: T.Buffer((14, 5), "float32")):
    # with T.block("root"):
    A_local = T.alloc_buffer((16, 5), scope="local")
    W_local = T.alloc_buffer((3,), scope="local")
    for ax0 in range(3):
        with T.block("W_local"):
            v0 = T.axis.spatial(3, ax0)
            T.reads(W[v0])
            T.writes(W_local[v0])
            W_local[v0] = W[v0]
    for i_0, i_1, r in T.grid(2, 8, 3):
        for ax0 in range(5):
            with T.block("A_local"):
                v0 = T.axis.spatial(16, i_0 * 8 + r + i_1)
                v1 = T.axis.spatial(5, ax0)
                T.where(i_0 * 8 + r + i_1 < 16)
                T.reads(A[v0, v1])
                T.writes(A_local[v0, v1])
                A_local[v0, v1] = A[v0, v1]
        for j in range(5):
            with T.block("C"):
                vi = T.axis.spatial(14, i_0 * 8 + i_1)
                vj, vr = T.axis.remap("SR", [j, r])
                T.where(i_0 * 8 + i_1 < 14)
                T.reads(A_local[vi + vr, vj], W_local[vr])
                T.writes(C[vi, vj])
                with T.init():
                    C[vi, vj] = T.float32(0)
                C[vi, vj] = C[vi, vj] + A_local[vi + vr, vj] * W_local[vr]
