# test: sched
# run: l = merge([loop("B", 0), loop("D", 0)])
# run: parallel(l)
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
    B = T.alloc_buffer((48, 20))
    for i_m in T.parallel(48):
        for j in range(20):
            with T.block("B"):
                vi, vj = T.axis.remap("SS", [i_m, j])
                T.reads(A[vi, vj])
                T.writes(B[vi, vj])
                B[vi, vj] = A[vi, vj] + T.float32(1)
        for j in range(20):
            with T.block("D"):
                vi, vj = T.axis.remap("SS", [i_m, j])
                T.reads(B[vi, vj])
                T.writes(D[vi, vj])
                D[vi, vj] = B[vi, vj] * T.float32(2)
