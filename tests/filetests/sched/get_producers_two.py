# test: sched
# run: low, high = get_producers(block("C"))
# run: annotate(high, "producer", True)
@T.prim_func
def before(A: T.Buffer((16, 16), "float32"), C: T.Buffer((16, 16), "float32")):
    B = T.alloc_buffer((16, 16), "float32")
    for i, j in T.grid(8, 16):
        with T.block("low"):
            vi, vj = T.axis.remap("SS", [i, j])
            B[vi, vj] = A[vi, vj]
    for i, j in T.grid(8, 16):
        with T.block("high"):
            vi = T.axis.spatial(16, i + 8)
            vj = T.axis.spatial(16, j)
            B[vi, vj] = A[vi, vj] * T.float32(2)
    for i, j in T.grid(16, 16):
        with T.block("C"):
            vi, vj = T.axis.remap("SS", [i, j])
            C[vi, vj] = B[vi, vj] + T.float32(1)
# expect:
# from tvm.script import tir as T

@T.prim_func
def after(A: T.Buffer((16, 16), "float32"), C: T.Buffer((16, 16), "float32")):
    # with T.block("root"):
    B = T.alloc_buffer((16, 16))
    for i, j in T.grid(8, 16):
        with T.block("low"):
            vi, vj = T.axis.remap("SS", [i, j])
            T.reads(A[vi, vj])
            T.writes(B[vi, vj])
            B[vi, vj] = A[vi, vj]
    for i, j in T.grid(8, 16):
        with T.block("high"):
            vi = T.axis.spatial(16, i + 8)
            vj = T.axis.spatial(16, j)
            T.reads(A[vi, vj])
            T.writes(B[vi, vj])
            T.block_attr({"producer": True})
            B[vi, vj] = A[vi, vj] * T.float32(2)
    for i, j in T.grid(16, 16):
        with T.block("C"):
            vi, vj = T.axis.remap("SS", [i, j])
            T.reads(B[vi, vj])
            T.writes(C[vi, vj])
            C[vi, vj] = B[vi, vj] + T.float32(1)
