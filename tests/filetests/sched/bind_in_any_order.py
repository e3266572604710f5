# test: sched
# run: bind(loop("acc", 0), "threadIdx.x")
# The block says that its iterations update elements of their own.
@T.prim_func
def before(A: T.Buffer((32, 8), "float32"), B: T.Buffer((32, 8), "float32")):
    for i, j in T.grid(32, 8):
        with T.block("acc"):
            vi, vj = T.axis.remap("SS", [i, j])
            T.block_attr({"any_order": True})
            A[vi, vj] = A[vi, vj] + B[vi, vj]
# expect:
# from tvm.script import tir as T

@T.prim_func
def after(A: T.Buffer((32, 8), "float32"), B: T.Buffer((32, 8), "float32")):
    # with T.block("root"):
    for i in T.thread_binding(32, thread="threadIdx.x"):
        for j in range(8):
            with T.block("acc"):
                vi, vj = T.axis.remap("SS", [i, j])
                T.reads(A[vi, vj], B[vi, vj])
                T.writes(A[vi, vj])
                T.block_attr({"any_order": True})
                A[vi, vj] = A[vi, vj] + B[vi, vj]
