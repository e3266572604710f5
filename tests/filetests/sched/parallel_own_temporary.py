# test: sched
# run: parallel(loop("P", 0))
@T.prim_func
def before(A: T.Buffer((16,), "float32"), Out: T.Buffer((16,), "float32")):
    X = T.alloc_buffer((1,), "float32")
    for i in range(16):
        with T.block("P"):
            vi = T.axis.spatial(16, i)
            X[0] = A[vi]
        with T.block("Q"):
            vi = T.axis.spatial(16, i)
            Out[vi] = X[0]
# expect:
# from tvm.script import tir as T

@T.prim_func
def after(A: T.Buffer((16,), "float32"), Out: T.Buffer((16,), "float32")):
    # with T.block("root"):
    X = T.alloc_buffer((1,))
    for i in T.parallel(16):
        with T.block("P"):
            vi = T.axis.spatial(16, i)
            T.reads(A[vi])
            T.writes(X[0])
            X[0] = A[vi]
        with T.block("Q"):
            vi = T.axis.spatial(16, i)
            T.reads(X[0])
            T.writes(Out[vi])
            Out[vi] = X[0]
