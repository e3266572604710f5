# test: sched
# run: annotate(block("B"), "tag", "text")
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
            T.block_attr({"tag": "text"})
            B[vi] = A[vi] * T.float32(2)
