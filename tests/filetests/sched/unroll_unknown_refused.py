# test: sched
# run: unroll(loop("B", 1))
@T.prim_func
def before(A: T.Buffer((128,), "float32"), B: T.Buffer((128,), "float32")):
    for i in range(128):
        with T.block("B"):
            vi = T.axis.spatial(128, i)
            B[vi] = A[vi] * T.float32(2)
# expect-error:
# error: argument 0 is not a loop: ["B",1]
