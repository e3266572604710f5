# test: sched
# run: l0, l1 = split(loop("B", 0), [None, 64])
# The program asserts that the factor divides the extent: no rest is left out.
@T.prim_func
def before(a: T.handle, b: T.handle):
    n = T.int64()
    A = T.match_buffer(a, (n,), "float32")
    B = T.match_buffer(b, (n,), "float32")
    assert n % T.int64(64) == T.int64(0), "whole parts"
    for i in range(n):
        with T.block("B"):
            vi = T.axis.spatial(n, i)
            B[vi] = A[vi] * T.float32(2)
# expect:
# from tvm.script import tir as T

@T.prim_func
def after(a: T.handle, b: T.handle):
    n = T.int64()
    A = T.match_buffer(a, (n,))
    B = T.match_buffer(b, (n,))
    # with T.block("root"):
    assert n % T.int64(64) == T.int64(0), "whole parts"
    for i_0, i_1 in T.grid(n // T.int64(64), T.int64(64)):
        with T.block("B"):
            vi = T.axis.spatial(n, i_0 * T.int64(64) + i_1)
            T.reads(A[vi])
            T.writes(B[vi])
            B[vi] = A[vi] * T.float32(2)
