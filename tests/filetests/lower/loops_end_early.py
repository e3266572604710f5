# test: lower
# target: cpu
# run: until trim_loops
# Conditions on sizes become ends of loops, or stand outside of those that do not decide them; sums of data wrap, and stay.

@T.prim_func
def f(x: T.handle, I: T.Buffer((4,), "int32"), y: T.handle):
    n, m = T.int64(), T.int64()
    X = T.match_buffer(x, (n,), "float32")
    Y = T.match_buffer(y, (n,), "float32")
    with T.LetStmt(I[0]) as d:
        for i in range(n // 4 + 1):
            for j in range(4):
                if i * 4 + j < n and n > 7:
                    Y[i * 4 + j] = X[i * 4 + j] * T.float32(2)
        for i in range(n):
            if i * 3 + 1 < d:
                Y[i] = X[i] + T.float32(1)
# expect-listing:
# after trim_loops:
# nest  #
#   let d = I[0]
#   if 8 <= n
#     for i in 0 .. n // 4 + 1
#       for j in 0 .. T.min(n - i * 4, 4)
#         Y[i * 4 + j] = X[i * 4 + j] * T.float32(2)
#   for i in 0 .. n
#     if i * 3 + 1 < d
#       Y[i] = X[i] + T.float32(1)
