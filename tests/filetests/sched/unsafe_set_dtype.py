# test: sched
# run: unsafe_set_dtype("B", 0, "float16")
@T.prim_func
def before(A: T.Buffer((48, 20), "float32"), D: T.Buffer((48, 20), "float32")):
    B = T.alloc_buffer((48, 20), "float32")
    for i, j in T.grid(48, 20):
        with T.block("B"):
            vi, vj = T.axis.remap("SS", [i, j])
            B[vi, vj] = A[vi, vj] + T.float32(1)
    for i, j in T.grid(48, 20):
        with T.block("D"):
            vi, vj = T.axis.remap("SS", [i, j])
            D[vi, vj] = B[vi, vj] * T.float32(2)
# expect:
# from tvm.script import tir as T

@T.prim_func
def after(A: T.Buffer((48, 20), "float32"), D: T.Buffer((48, 20), "float32")):
    # with T.block("root"):
    B = T.alloc_buffer((48, 20), "float16")
    for i, j in T.grid(48, 20):
        with T.block("B"):
            vi, vj = T.axis.remap("SS", [i, j])
            T.reads(A[vi, vj])
            T.writes(B[vi, vj])
            B[vi, vj] = T.Cast("float16", A[vi, vj] + T.float32(1))
    for i, j in T.grid(48, 20):
        with T.block("D"):
            vi, vj = T.axis.remap("SS", [i, j])
            T.reads(B[vi, vj])
            T.writes(D[vi, vj])
            D[vi, vj] = T.Cast("float32", B[vi, vj]) * T.float32(2)
