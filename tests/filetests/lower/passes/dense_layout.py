# test: lower
# target: cpu
# run: until dense_layout
# A tensor that is passed is dense, which says what the variables for its strides are.

@T.prim_func
def rows(x: T.handle, Y: T.Buffer((4, 4), "float32")):
    s = T.int64()
    X = T.match_buffer(x, (4, 4), "float32", strides=(s, 1))
    for i, j in T.grid(4, 4):
        with T.block("Y"):
            vi, vj = T.axis.remap("SS", [i, j])
            Y[vi, vj] = X[vi, vj] + T.Cast("float32", s)
# expect-listing:
# after dense_layout:
# # from tvm.script import tir as T
#
# @T.prim_func
# def rows(X: T.Buffer((4, 4), "float32"), Y: T.Buffer((4, 4), "float32")):
#     # with T.block("root"):
#     for i, j in T.grid(4, 4):
#         with T.block("Y"):
#             vi, vj = T.axis.remap("SS", [i, j])
#             T.reads(X[vi, vj])
#             T.writes(Y[vi, vj])
#             Y[vi, vj] = X[vi, vj] + T.Cast("float32", T.Mul(T.int64(1), T.int64(4)))
