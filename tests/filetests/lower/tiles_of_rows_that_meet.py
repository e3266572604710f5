# test: lower
# target: cpu
# run: until trim_loops
# A row adds what the row before holds by then, so rows of a tile take turns in each step: the last tile is not parted, and runs past the end.

@T.prim_func
def sums(x: T.handle, W: T.Buffer((9,), "float32"), y: T.handle):
    n = T.int64()
    X = T.match_buffer(x, (n, 9), "float32")
    Y = T.match_buffer(y, (n,), "float32")
    P = T.alloc_buffer((n + 1,), "float32", scope="local")
    for f in range((n + 31) // 32):
        for r in range(33):
            with T.block("init"):
                vr = T.axis.spatial(n + 1, f * 32 + r)
                T.where(f * 32 + r < n + 1)
                P[vr] = T.float32(0)
        for i, k in T.grid(4, 9):
            for u in T.unroll(8):
                with T.block("update"):
                    vi = T.axis.opaque(n, f * 32 + i * 8 + u)
                    vk = T.axis.opaque(9, k)
                    T.where(f * 32 + i * 8 + u < n)
                    P[vi + 1] = P[vi + 1] + P[vi] * X[vi, vk] * W[vk]
        for r in range(32):
            with T.block("Y"):
                vi = T.axis.spatial(n, f * 32 + r)
                T.where(f * 32 + r < n)
                Y[vi] = P[vi + 1]
# expect-listing:
# after trim_loops:
# nest  # init, update, Y
#   array P: float32[33], new in each iteration of f
#   for f in 0 .. (n + 31) // 32
#     for r in 0 .. 33
#       P[r] = T.float32(0)
#     for i in 0 .. 4
#       for k in 0 .. 9
#         unrolled for u in 0 .. 8
#           if f * 32 + i * 8 + u < n
#             P[i * 8 + u + 1] = P[i * 8 + u + 1] + P[i * 8 + u] * X[f * 32 + i * 8 + u, k] * W[k]
#     for r in 0 .. T.min(n - f * 32, 32)
#       Y[f * 32 + r] = P[r + 1]
