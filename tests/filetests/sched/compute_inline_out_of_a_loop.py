# test: sched
# run: compute_inline(block("P"))
@T.prim_func
def before(A: T.Buffer((4,), "float32"), C: T.Buffer((4,), "float32")):
    X = T.alloc_buffer((4,), "float32")
    B = T.alloc_buffer((4,), "float32")
    for t in range(4):
        with T.block("W"):
            vt = T.axis.spatial(4, t)
            X[vt] = A[vt]
        with T.block("P"):
            vt = T.axis.spatial(4, t)
            B[vt] = X[vt] * T.float32(2)
    for t in range(4):
        with T.block("Q"):
            vt = T.axis.spatial(4, t)
            C[vt] = B[vt]
# expect:
# from tvm.script import tir as T

@T.prim_func
def after(A: T.Buffer((4,), "float32"), C: T.Buffer((4,), "float32")):
    # with T.block("root"):
    X = T.alloc_buffer((4,))
    for t in range(4):
        with T.block("W"):
            vt = T.axis.spatial(4, t)
            T.reads(A[vt])
            T.writes(X[vt])
            X[vt] = A[vt]
    for t in range(4):
        with T.block("Q"):
            vt = T.axis.spatial(4, t)
            T.reads(X[vt])
            T.writes(C[vt])
            C[vt] = X[vt] * T.float32(2)
