# test: lower
# target: cpu
# run: until trim_loops
# Of 21 rows, 16 are two whole tiles of eight; tiles of three and two are left. A branch would never be taken: there is none.

@T.prim_func
def sums(X: T.Buffer((21, 9), "float32"), W: T.Buffer((9,), "float32"), Y: T.Buffer((21,), "float32")):
    P = T.alloc_buffer((21,), "float32", scope="local")
    for f in range(1):
        for i in range(3):
            for u in T.unroll(8):
                with T.block("init"):
                    vi = T.axis.spatial(21, i * 8 + u)
                    T.where(i * 8 + u < 21)
                    P[vi] = T.float32(0)
        for i, k in T.grid(3, 9):
            for u in T.unroll(8):
                with T.block("update"):
                    vi = T.axis.spatial(21, i * 8 + u)
                    vk = T.axis.reduce(9, k)
                    T.where(i * 8 + u < 21)
                    P[vi] = P[vi] + X[vi, vk] * W[vk]
        for r in range(21):
            with T.block("Y"):
                vi = T.axis.spatial(21, r)
                Y[vi] = P[vi]
# expect-listing:
# after trim_loops:
# nest  # init, update, Y
#   array P: float32[24]
#   for i in 0 .. 3
#     unrolled for u in 0 .. 8
#       P[i * 8 + u] = T.float32(0)
#   for i in 0 .. 2
#     for k in 0 .. 9
#       unrolled for u in 0 .. 8
#         P[i * 8 + u] = P[i * 8 + u] + X[i * 8 + u, k] * W[k]
#   for k in 0 .. 9
#     unrolled for u in 0 .. 3
#       P[16 + u] = P[16 + u] + X[T.min(16 + u, 20), k] * W[k]
#   for k in 0 .. 9
#     unrolled for u in 0 .. 2
#       P[16 + (3 + u)] = P[16 + (3 + u)] + X[T.min(16 + (3 + u), 20), k] * W[k]
#   for r in 0 .. 21
#     Y[r] = P[r]
