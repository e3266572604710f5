# test: sched
# run: a, b = loop_partition(loop("B", 1), [4])
# run: c, d, e = loop_partition(loop("B_j0", 0), [1, None, 2])
# run: parallel(b)
@T.prim_func
def before(A: T.Buffer((8, 20), "float32"), B: T.Buffer((8, 20), "float32")):
    for i, j in T.grid(8, 20):
        with T.block("B"):
            vi, vj = T.axis.remap("SS", [i, j])
            B[vi, vj] = A[vi, vj] + T.float32(1)
# expect:
# from tvm.script import tir as T

@T.prim_func
def after():
    T.evaluate(0)
