# test: sched
# run: compute_at(block("B"), loop("C", 0))
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
    B = T.alloc_buffer((66,))
    for i in range(64):
        for ax0 in range(3):
            with T.block("B"):
                vi = T.axis.spatial(66, i + ax0)
                T.reads(A[vi:vi + 3])
                T.writes(B[vi])
                B[vi] = A[vi] + A[vi + 1] + A[vi + 2]
        with T.block("C"):
            vi = T.axis.spatial(64, i)
            T.reads(B[vi:vi + 3])
            T.writes(C[vi])
            C[vi] = B[vi] + B[vi + 1] + B[vi + 2]
