# test: lower
# target: cpu
# No target computes with elements of at most eight bits.

@T.prim_func
def double(A: T.Buffer((16,), "float8_e4m3fn"), B: T.Buffer((16,), "float8_e4m3fn")):
    for i in range(16):
        with T.block("B"):
            vi = T.axis.spatial(16, i)
            B[vi] = A[vi] + A[vi]
# expect-error:
# error: `double`: `A` has type float8_e4m3fn, which the target does not have
