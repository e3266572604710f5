# test: sched
# run: transform_layout(block("S"), "write", 0, "lambda i, j: (i, j // 4, j % 4)", 1.5)
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
    S = T.alloc_buffer((4, 3, 4))
    for i, axis1, axis2, r in T.grid(4, 3, 4, 3):
        with T.block("S"):
            v_i, v_axis1, v_axis2, vr = T.axis.remap("SSSR", [i, axis1, axis2, r])
            T.reads(X[v_i, v_axis1 * 4 + v_axis2 + vr])
            T.writes(S[v_i, v_axis1, v_axis2])
            with T.init():
                S[v_i, v_axis1, v_axis2] = T.if_then_else(v_axis1 == 2 and 2 <= v_axis2, T.float32(1.5), T.float32(0))
            S[v_i, v_axis1, v_axis2] = T.if_then_else(v_axis1 == 2 and 2 <= v_axis2, T.float32(1.5), S[v_i, v_axis1, v_axis2] + X[v_i, v_axis1 * 4 + v_axis2 + vr])
    for c, x in T.grid(4, 10):
        with T.block("Y"):
            vc, vx = T.axis.remap("SS", [c, x])
            T.reads(S[vc, vx // 4, vx % 4])
            T.writes(Y[vc, vx])
            Y[vc, vx] = S[vc, vx // 4, vx % 4] / T.float32(3)
