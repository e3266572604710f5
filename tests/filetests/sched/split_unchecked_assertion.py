# test: sched
# run: l0, l1 = split(loop("B", 0), [None, 64])
# A launch cannot check a quotient of two sizes, and so nothing that stands beside it: the predicate stays.
@T.prim_func
def before(a: T.handle, b: T.handle, m: T.int64):
    n = T.int64()
    A = T.match_buffer(a, (n,), "float32")
    B = T.match_buffer(b, (n,), "float32")
    assert n % T.int64(64) == T.int64(0) and n // m == T.int64(1), "whole parts"
    for i in range(n):
        with T.block("B"):
            vi = T.axis.spatial(n, i)
            B[vi] = A[vi] * T.float32(2)
# expect:
# from tvm.script import tir as T

@T.prim_func
def after(a: T.handle, b: T.handle, m: T.int64):
    n = T.int64()
    A = T.match_buffer(a, (n,))
    B = T.match_buffer(b, (n,))
    # with T.block("root"):
    assert n % T.int64(64) == T.int64(0) and n // m == T.int64(1), "whole parts"
    for i_0, i_1 in T.grid((n + T.int64(63)) // T.int64(64), T.int64(64)):
        with T.block("B"):
            vi = T.axis.spatial(n, i_0 * T.int64(64) + i_1)
            T.where(i_0 * T.int64(64) + i_1 < n)
            T.reads(A[vi])
            T.writes(B[vi])
            B[vi] = A[vi] * T.float32(2)
