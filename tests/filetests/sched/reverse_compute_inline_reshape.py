# test: sched
# run: reverse_compute_inline(block("C"))
@T.prim_func
def before(A: T.Buffer((96,), "float32"), C: T.Buffer((6, 16), "float32")):
    B = T.alloc_buffer((96,), "float32")
    for i in range(96):
        with T.block("B"):
            vi = T.axis.spatial(96, i)
            B[vi] = A[vi] * T.float32(2)
    for i, j in T.grid(6, 16):
        with T.block("C"):
            vi, vj = T.axis.remap("SS", [i, j])
            C[vi, vj] = B[vi * 16 + vj] + T.float32(1)
# expect:
# from tvm.script import tir as T

@T.prim_func
def after(A: T.Buffer((96,), "float32"), C: T.Buffer((6, 16), "float32")):
    # with T.block("root"):
    for i in range(96):
        with T.block("B"):
            vi = T.axis.spatial(96, i)
            T.reads(A[vi])
            T.writes(C[vi // 16, vi % 16])
            C[vi // 16, vi % 16] = A[vi] * T.float32(2) + T.float32(1)
