# test: sched
# run: transform_layout(block("B"), "write", 0, "lambda i, j: (i // 2, j // 4, i % 2, j % 4)")
@T.prim_func
def before(A: T.Buffer((10, 12), "float32"), C: T.Buffer((10, 12), "float32")):
    B = T.alloc_buffer((10, 12), "float32")
    for i, j in T.grid(10, 12):
        with T.block("B"):
            vi, vj = T.axis.remap("SS", [i, j])
            B[vi, vj] = A[vi, vj] * T.float32(2)
    for i, j in T.grid(10, 12):
        with T.block("C"):
            vi, vj = T.axis.remap("SS", [i, j])
            C[vi, vj] = B[vi, vj] + T.float32(1)
# expect:
# from tvm.script import tir as T

@T.prim_func
def after(A: T.Buffer((10, 12), "float32"), C: T.Buffer((10, 12), "float32")):
    # with T.block("root"):
    B = T.alloc_buffer((5, 3, 2, 4))
    for i, j in T.grid(10, 12):
        with T.block("B"):
            vi, vj = T.axis.remap("SS", [i, j])
            T.reads(A[vi, vj])
            T.writes(B[vi // 2, vj // 4, vi % 2, vj % 4])
            B[vi // 2, vj // 4, vi % 2, vj % 4] = A[vi, vj] * T.float32(2)
    for i, j in T.grid(10, 12):
        with T.block("C"):
            vi, vj = T.axis.remap("SS", [i, j])
            T.reads(B[vi // 2, vj // 4, vi % 2, vj % 4])
            T.writes(C[vi, vj])
            C[vi, vj] = B[vi // 2, vj // 4, vi % 2, vj % 4] + T.float32(1)
