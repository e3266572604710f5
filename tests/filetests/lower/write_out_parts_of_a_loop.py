# test: lower
# target: cpu
# run: until write_out
# A loop is split where its condition ends, and what is unrolled inside is written out in both parts. Vectorized loops stay.

@T.prim_func
def parts(X: T.Buffer((70,), "float32"), Y: T.Buffer((70,), "float32")):
    for i in range(9):
        for u in T.unroll(2):
            for j in T.vectorized(4):
                with T.block("Y"):
                    v = T.axis.spatial(70, i * 8 + u * 4 + j)
                    T.where(i * 8 + u * 4 + j < 70)
                    Y[v] = X[v] + T.float32(1)
# expect-listing:
# after write_out:
# nest  # Y
#   for i in 0 .. 8
#     vectorized for j in 0 .. 4
#       Y[i * 8 + j] = X[i * 8 + j] + T.float32(1)
#     vectorized for j in 0 .. 4
#       Y[i * 8 + 4 + j] = X[i * 8 + 4 + j] + T.float32(1)
#   vectorized for j in 0 .. 4
#     Y[64 + j] = X[64 + j] + T.float32(1)
#   vectorized for j in 0 .. 4
#     if j < 2
#       Y[68 + j] = X[68 + j] + T.float32(1)
