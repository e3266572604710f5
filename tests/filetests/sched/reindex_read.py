# test: sched
# run: reindex(block("Y"), "read", 0)
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
            Y[vc, vx] = S[3 - vc, vx] / T.float32(3)
# expect:
# from tvm.script import tir as T

@T.prim_func
def after(X: T.Buffer((4, 12), "float32"), Y: T.Buffer((4, 10), "float32")):
    # with T.block("root"):
    S = T.alloc_buffer((4, 10))
    S_reindex = T.alloc_buffer((4, 10))
    for c, x, r in T.grid(4, 10, 3):
        with T.block("S"):
            vc, vx, vr = T.axis.remap("SSR", [c, x, r])
            T.reads(X[vc, vx + vr])
            T.writes(S[vc, vx])
            with T.init():
                S[vc, vx] = T.float32(0)
            S[vc, vx] = S[vc, vx] + X[vc, vx + vr]
    for ax0, ax1 in T.grid(4, 10):
        with T.block("S_reindex_reindex"):
            v0, v1 = T.axis.remap("SS", [ax0, ax1])
            T.reads(S[3 - v0, v1])
            T.writes(S_reindex[v0, v1])
            S_reindex[v0, v1] = S[3 - v0, v1]
    for c, x in T.grid(4, 10):
        with T.block("Y"):
            vc, vx = T.axis.remap("SS", [c, x])
            T.reads(S_reindex[vc, vx])
            T.writes(Y[vc, vx])
            Y[vc, vx] = S_reindex[vc, vx] / T.float32(3)
