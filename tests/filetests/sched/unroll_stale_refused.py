# test: sched
# run: l = get_loops(block("B"))
# run: split(l, [None, 4])
# run: unroll(l)
@T.prim_func
def before(A: T.Buffer((128,), "float32"), B: T.Buffer((128,), "float32")):
    for i in range(128):
        with T.block("B"):
            vi = T.axis.spatial(128, i)
            B[vi] = A[vi] * T.float32(2)
# expect-error:
# error: unroll: L0 names no loop of this function; an earlier step removed it
