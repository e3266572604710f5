# test: sched
# run: parallel(loop("B", 0))
@T.prim_func
def before(a: T.handle, b: T.handle):
    n = T.int32()
    A = T.match_buffer(a, (n, 24), "float32")
    B = T.match_buffer(b, (n, 24), "float32")
    for i, j in T.grid(n, 24):
        with T.block("B"):
            vi, vj = T.axis.remap("SS", [i, j])
            B[vi, vj] = A[vi, vj] + T.float32(1)
# expect:
# from tvm.script import tir as T

@T.prim_func
def after(a: T.handle, b: T.handle):
    n = T.int32()
    A = T.match_buffer(a, (n, 24))
    B = T.match_buffer(b, (n, 24))
    # with T.block("root"):
    for i in T.parallel(n):
        for j in range(24):
            with T.block("B"):
                vi, vj = T.axis.remap("SS", [i, j])
                T.reads(A[vi, vj])
                T.writes(B[vi, vj])
                B[vi, vj] = A[vi, vj] + T.float32(1)
