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
