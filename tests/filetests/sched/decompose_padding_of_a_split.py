# test: sched
# run: split(loop("P", 0), [None, 32])
# run: decompose_padding("P", loop("P", 1))
@T.prim_func
def before(X: T.Buffer((128,), "float32"), Y: T.Buffer((140,), "float32")):
    for i in range(140):
        with T.block("P"):
            vi = T.axis.spatial(140, i)
            Y[vi] = T.if_then_else(vi >= 6 and vi < 134, X[vi - 6], T.float32(0))
# expect:
# from tvm.script import tir as T

@T.prim_func
def after(X: T.Buffer((128,), "float32"), Y: T.Buffer((140,), "float32")):
    # with T.block("root"):
    for i_0 in range(5):
        for i_1 in range(32):
            with T.block("P_pad_const"):
                vi = T.axis.spatial(140, i_0 * 32 + i_1)
                T.where(i_0 * 32 + i_1 < 140)
                T.reads()
                T.writes(Y[vi])
                Y[vi] = T.float32(0)
        for i_1 in range(32):
            with T.block("P"):
                vi = T.axis.spatial(128, i_0 * 32 + i_1 - 6)
                T.where(6 <= i_0 * 32 + i_1 and i_0 * 32 + i_1 < 134)
                T.reads(X[vi])
                T.writes(Y[vi + 6])
                Y[vi + 6] = X[vi]
