# test: sched
# run: blockize([block("S"), block("Y")])
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
# expect-error:
# error: blockize: block `S` has an init, so it cannot be put into one block with others
#   --> before:8:9
#   |
# 8 |         with T.block("S"):
#   |         ^^^^^^^^^^^^^^^^^^ block "S"
