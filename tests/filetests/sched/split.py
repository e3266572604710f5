# test: sched
# run: l0, l1 = split(loop("B", 0), [None, 32])
# run: vectorize(l1)
@T.prim_func
def before(A: T.Buffer((128,), "float32"), B: T.Buffer((128,), "float32")):
    for i in range(128):
        with T.block("B"):
            vi = T.axis.spatial(128, i)
            B[vi] = A[vi] * T.float32(2)

# expect:
# from tvm.script import tir as T

@T.prim_func
def after(A: T.Buffer((128,), "float32"), B: T.Buffer((128,), "float32")):
    # with T.block("root"):
    for i_0 in range(4):
        for i_1 in T.vectorized(32):
            with T.block("B"):
                vi = T.axis.spatial(128, i_0 * 32 + i_1)
                T.reads(A[vi])
                T.writes(B[vi])
                B[vi] = A[vi] * T.float32(2)
