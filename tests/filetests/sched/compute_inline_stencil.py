# test: sched
# run: compute_inline(block("B"))
@T.prim_func
def before(A: T.Buffer((68,), "float32"), C: T.Buffer((64,), "float32")):
    B = T.alloc_buffer((66,), "float32")
    for i in range(66):
        with T.block("B"):
            vi = T.axis.spatial(66, i)
            B[vi] = A[vi] + A[vi + 1] + A[vi + 2]
    for i in range(64):
        with T.block("C"):
            vi = T.axis.spatial(64, i)
            C[vi] = B[vi] + B[vi + 1] + B[vi + 2]
# expect:
# from tvm.script import tir as T

@T.prim_func
def after(A: T.Buffer((68,), "float32"), C: T.Buffer((64,), "float32")):
    # with T.block("root"):
    for i in range(64):
        with T.block("C"):
            vi = T.axis.spatial(64, i)
            T.reads(A[vi:vi + 5])
            T.writes(C[vi])
            C[vi] = A[vi] + A[vi + 1] + A[vi + 2] + (A[vi + 1] + A[vi + 1 + 1] + A[vi + 1 + 2]) + (A[vi + 2] + A[vi + 2 + 1] + A[vi + 2 + 2])
