# test: sched
# run: b = get_block("B")
# run: annotate(b, "note", 1)
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
    for i in range(128):
        with T.block("B"):
            vi = T.axis.spatial(128, i)
            T.reads(A[vi])
            T.writes(B[vi])
            T.block_attr({"note": 1})
            B[vi] = A[vi] * T.float32(2)
