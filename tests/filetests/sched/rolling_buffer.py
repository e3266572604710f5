# test: sched
# run: outer, inner = split(loop("C", 0), [None, 4])
# run: compute_at("B", outer)
# run: rolling_buffer("B", 0)
@T.prim_func
def before(A: T.Buffer((66,), "float32"), C: T.Buffer((64,), "float32")):
    B = T.alloc_buffer((66,), "float32")
    for i in range(66):
        with T.block("B"):
            vi = T.axis.spatial(66, i)
            B[vi] = A[vi] * T.float32(2)
    for i in range(64):
        with T.block("C"):
            vi = T.axis.spatial(64, i)
            C[vi] = B[vi] + B[vi + 2]
# expect:
# from tvm.script import tir as T

@T.prim_func
def after(A: T.Buffer((66,), "float32"), C: T.Buffer((64,), "float32")):
    # with T.block("root"):
    B = T.alloc_buffer((6,))
    for i_0 in range(16):
        for ax0 in range(6):
            with T.block("B"):
                vi = T.axis.opaque(66, i_0 * 4 + ax0)
                T.where(i_0 < 1 or 2 <= ax0)
                T.reads(A[vi])
                T.writes(B[vi % 6])
                B[vi % 6] = A[vi] * T.float32(2)
        for i_1 in range(4):
            with T.block("C"):
                vi = T.axis.opaque(64, i_0 * 4 + i_1)
                T.reads(B[T.min(vi % 6, (vi + 2) % 6):T.min(vi % 6, (vi + 2) % 6) + (T.max(vi % 6, (vi + 2) % 6) - T.min(vi % 6, (vi + 2) % 6) + 1)])
                T.writes(C[vi])
                C[vi] = B[vi % 6] + B[(vi + 2) % 6]
