# test: sched
# run: unroll(loop("acc", 1))
@T.prim_func
def before(A: T.Buffer((32, 8), "float32"), B: T.Buffer((32, 8), "float32")):
    for i, j in T.grid(32, 8):
        with T.block("acc"):
            vi, vj = T.axis.remap("SS", [i, j])
            A[vi, vj] = A[vi, vj] + B[vi, vj]
# expect:
# from tvm.script import tir as T

@T.prim_func
def after(A: T.Buffer((32, 8), "float32"), B: T.Buffer((32, 8), "float32")):
    # with T.block("root"):
    for i in range(32):
        for j in T.unroll(8):
            with T.block("acc"):
                vi, vj = T.axis.remap("SS", [i, j])
                T.reads(A[vi, vj], B[vi, vj])
                T.writes(A[vi, vj])
                A[vi, vj] = A[vi, vj] + B[vi, vj]
