# test: lower
# target: cpu
# run: until trim_loops
# Rows behind the last whole tile are computed in a tile of four, and one of three or two. A single one joins the last whole tile, if there is one.

@T.prim_func
def sums(x: T.handle, W: T.Buffer((9,), "float32"), y: T.handle):
    n = T.int64()
    X = T.match_buffer(x, (n, 9), "float32")
    Y = T.match_buffer(y, (n,), "float32")
    P = T.alloc_buffer((n,), "float32", scope="local")
    for f in range((n + 31) // 32):
        for i in range(4):
            for u in T.unroll(8):
                with T.block("init"):
                    vi = T.axis.spatial(n, f * 32 + i * 8 + u)
                    T.where(f * 32 + i * 8 + u < n)
                    P[vi] = T.float32(0)
        for i, k in T.grid(4, 9):
            for u in T.unroll(8):
                with T.block("update"):
                    vi = T.axis.spatial(n, f * 32 + i * 8 + u)
                    vk = T.axis.reduce(9, k)
                    T.where(f * 32 + i * 8 + u < n)
                    P[vi] = P[vi] + X[vi, vk] * W[vk]
        for r in range(32):
            with T.block("Y"):
                vi = T.axis.spatial(n, f * 32 + r)
                T.where(f * 32 + r < n)
                Y[vi] = P[vi]
# expect-listing:
# after trim_loops:
# nest  # init, update, Y
#   array P: float32[32], new in each iteration of f
#   for f in 0 .. (n + 31) // 32
#     for i in 0 .. T.min((n + 7) // 8 - f * 4, 4)
#       unrolled for u in 0 .. 8
#         P[i * 8 + u] = T.float32(0)
#     let rest = T.Select(T.max(T.min(n - f * 32, 32), 0) % 8 == 1 and 2 <= T.min(n - f * 32, 32), 9, T.max(T.min(n - f * 32, 32), 0) % 8)
#     let i = T.max(T.min(n // 8 - f * 4, 3) - rest // 9, 0)
#     for i in 0 .. T.min(n // 8 - f * 4, 4) - rest // 9
#       for k in 0 .. 9
#         unrolled for u in 0 .. 8
#           P[i * 8 + u] = P[i * 8 + u] + X[f * 32 + i * 8 + u, k] * W[k]
#     if rest == 9
#       for k in 0 .. 9
#         unrolled for u in 0 .. 9
#           P[T.min(i, 2) * 8 + u] = P[T.min(i, 2) * 8 + u] + X[T.min(f * 32 + T.min(i, 2) * 8 + u, n - 1), k] * W[k]
#     if rest == 4 or rest == 6 or rest == 7
#       for k in 0 .. 9
#         unrolled for u in 0 .. 4
#           P[i * 8 + u] = P[i * 8 + u] + X[T.min(f * 32 + i * 8 + u, n - 1), k] * W[k]
#     if rest == 3 or rest == 5 or rest == 7
#       for k in 0 .. 9
#         unrolled for u in 0 .. 3
#           P[i * 8 + (T.Select(rest == 7, 4, 0) + u)] = P[i * 8 + (T.Select(rest == 7, 4, 0) + u)] + X[T.min(f * 32 + i * 8 + (T.Select(rest == 7, 4, 0) + u), n - 1), k] * W[k]
#     if rest == 2 or rest == 5 or rest == 6
#       for k in 0 .. 9
#         unrolled for u in 0 .. 2
#           P[i * 8 + (T.Select(rest == 6, 4, T.Select(rest == 5, 3, 0)) + u)] = P[i * 8 + (T.Select(rest == 6, 4, T.Select(rest == 5, 3, 0)) + u)] + X[T.min(f * 32 + i * 8 + (T.Select(rest == 6, 4, T.Select(rest == 5, 3, 0)) + u), n - 1), k] * W[k]
#     if rest == 1
#       for k in 0 .. 9
#         unrolled for u in 0 .. 1
#           P[i * 8 + u] = P[i * 8 + u] + X[T.min(f * 32 + i * 8 + u, n - 1), k] * W[k]
#     for r in 0 .. T.min(n - f * 32, 32)
#       Y[f * 32 + r] = P[r]
