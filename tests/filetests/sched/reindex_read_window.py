# test: sched
# run: reindex(block("S"), "read", 0)
@T.prim_func
def before(X: T.Buffer((4, 12), "float32"), Y: T.Buffer((4, 10), "float32")):
    S = T.alloc_buffer((4, 10), "float32")
    for c, x, r in T.grid(4, 10, 3):
        with T.block("S"):
            vc, vx, vr = T.axis.remap("SSR", [c, x, r])
            with T.init():
                S[vc, vx] = T.float32(0)
            S[vc, vx] = S[vc, vx] + X[vc, vx + vr]
    for c, x in T.grid(4, 10):
        with T.block("Y"):
            vc, vx = T.axis.remap("SS", [c, x])
            Y[vc, vx] = S[vc, vx] / T.float32(3)
# expect:
# from tvm.script import tir as T

@T.prim_func
def after(X: T.Buffer((4, 12), "float32"), Y: T.Buffer((4, 10), "float32")):
    # with T.block("root"):
    S = T.alloc_buffer((4, 10))
    X_reindex = T.alloc_buffer((4, 10, 3))
    for ax0, ax1, ax2 in T.grid(4, 10, 3):
        with T.block("X_reindex_reindex"):
            v0, v1, v2 = T.axis.remap("SSS", [ax0, ax1, ax2])
            T.reads(X[v0, v1 + v2])
            T.writes(X_reindex[v0, v1, v2])
            X_reindex[v0, v1, v2] = X[v0, v1 + v2]
    for c, x, r in T.grid(4, 10, 3):
        with T.block("S"):
            vc, vx, vr = T.axis.remap("SSR", [c, x, r])
            T.reads(X_reindex[vc, vx, vr])
            T.writes(S[vc, vx])
            with T.init():
                S[vc, vx] = T.float32(0)
            S[vc, vx] = S[vc, vx] + X_reindex[vc, vx, vr]
    for c, x in T.grid(4, 10):
        with T.block("Y"):
            vc, vx = T.axis.remap("SS", [c, x])
            T.reads(S[vc, vx])
            T.writes(Y[vc, vx])
            Y[vc, vx] = S[vc, vx] / T.float32(3)
