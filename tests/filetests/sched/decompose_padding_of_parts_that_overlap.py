# test: sched
# run: compute_at("P", loop("Y", 0))
# run: decompose_padding("P", loop("P", 1))
@T.prim_func
def before(X: T.Buffer((62,), "float32"), Y: T.Buffer((62,), "float32")):
    P = T.alloc_buffer((64,), "float32")
    for i in range(64):
        with T.block("P"):
            vi = T.axis.spatial(64, i)
            P[vi] = T.if_then_else(vi >= 1 and vi < 63, X[vi - 1], T.float32(0))
    for i, j in T.grid(2, 31):
        with T.block("Y"):
            vi = T.axis.spatial(62, i * 31 + j)
            Y[vi] = P[vi] + P[vi + 1] + P[vi + 2]
# expect:
# from tvm.script import tir as T

@T.prim_func
def after(X: T.Buffer((62,), "float32"), Y: T.Buffer((62,), "float32")):
    # with T.block("root"):
    P = T.alloc_buffer((64,))
    for i in range(2):
        for ax0 in range(33):
            with T.block("P_pad_const"):
                vi = T.axis.spatial(64, i * 31 + ax0)
                T.reads()
                T.writes(P[vi])
                P[vi] = T.float32(0)
        for ax0 in range(33):
            with T.block("P"):
                vi = T.axis.spatial(62, i * 31 + ax0 - 1)
                T.where(1 <= i * 31 + ax0 and i * 31 + ax0 < 63)
                T.reads(X[vi])
                T.writes(P[vi + 1])
                P[vi + 1] = X[vi]
        for j in range(31):
            with T.block("Y"):
                vi = T.axis.spatial(62, i * 31 + j)
                T.reads(P[vi:vi + 3])
                T.writes(Y[vi])
                Y[vi] = P[vi] + P[vi + 1] + P[vi + 2]
