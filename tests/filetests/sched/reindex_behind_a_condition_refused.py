# test: sched
# run: reindex(block("Y"), "read", 0)
@T.prim_func
def before(X: T.Buffer((10,), "float32"), Y: T.Buffer((10,), "float32")):
    for i, r in T.grid(10, 3):
        with T.block("Y"):
            vi, vr = T.axis.remap("SR", [i, r])
            with T.init():
                Y[vi] = T.float32(0)
            Y[vi] = Y[vi] + T.if_then_else(1 <= vi + vr and vi + vr < 11, X[vi + vr - 1], T.float32(0))
# expect-error:
# error: reindex: block `Y` does not use all elements of `X` that its iter variables name, or some outside of it
#   --> before:7:9
#   |
# 7 |         with T.block("Y"):
#   |         ^^^^^^^^^^^^^^^^^^ block "Y"
