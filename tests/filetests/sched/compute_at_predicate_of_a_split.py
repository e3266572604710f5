# test: sched
# run: split(loop("B", 0), [None, 8])
# run: compute_at(block("B"), loop("C", 0))
@T.prim_func
def before(A: T.Buffer((20,), "float32"), C: T.Buffer((20,), "float32")):
    B = T.alloc_buffer((20,), "float32")
    for i in range(20):
        with T.block("B"):
            vi = T.axis.spatial(20, i)
            B[vi] = A[vi] * T.float32(2)
    for i in range(20):
        with T.block("C"):
            vi = T.axis.spatial(20, i)
            C[vi] = B[vi]
# expect:
# from tvm.script import tir as T

@T.prim_func
def after(A: T.Buffer((20,), "float32"), C: T.Buffer((20,), "float32")):
    # with T.block("root"):
    B = T.alloc_buffer((20,))
    for i in range(20):
        with T.block("B"):
            vi = T.axis.spatial(20, i)
            T.reads(A[vi])
            T.writes(B[vi])
            B[vi] = A[vi] * T.float32(2)
        with T.block("C"):
            vi = T.axis.spatial(20, i)
            T.reads(B[vi])
            T.writes(C[vi])
            C[vi] = B[vi]
