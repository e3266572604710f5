# test: print
# Loops whose bounds are loaded with an index of an inner loop run over what is not known: the whole dimension. So do values
# that stand for too much.

@T.prim_func
def main(indptr: T.Buffer((9,), "int32"), X: T.Buffer((64,), "float32"), Y: T.Buffer((8,), "float32"), idx: T.Buffer((8,), "int32")):
    with T.block("rows"):
        for i in range(8):
            for k in range(indptr[i], indptr[i + 1]):
                Y[i] = Y[i] + X[k]
    with T.block("let"):
        v = T.axis.spatial(1, 0)
        Y[v] = T.Let(X[x] + X[x + 1], where={x: v * 2})
    with T.block("doubled"):
        v = T.axis.spatial(1, 0)
        a0 = v + 1
        a1 = a0 + a0
        a2 = a1 + a1
        a3 = a2 + a2
        a4 = a3 + a3
        a5 = a4 + a4
        a6 = a5 + a5
        a7 = a6 + a6
        a8 = a7 + a7
        a9 = a8 + a8
        a10 = a9 + a9
        a11 = a10 + a10
        Y[a2] = X[a11]
    with T.block("views"):
        v = T.axis.spatial(2, 0)
        V = T.match_buffer(X[v * 32:v * 32 + 32], (32,), "float32")
        W = T.match_buffer(V[4:8], (4,), "float32")
        Y[v] = W[1]
# expect:
# from tvm.script import ir as I
# from tvm.script import tir as T

@I.ir_module
class Module:
    @T.prim_func
    def main(indptr: T.Buffer((9,), "int32"), X: T.Buffer((64,), "float32"), Y: T.Buffer((8,), "float32"), idx: T.Buffer((8,), "int32")):
        # with T.block("root"):
        with T.block("rows"):
            T.reads(indptr[0:9], Y[0:8], X[0:64])
            T.writes(Y[0:8])
            for i in range(8):
                for k in range(indptr[i], indptr[i + 1]):
                    Y[i] = Y[i] + X[k]
        with T.block("let"):
            v = T.axis.spatial(1, 0)
            T.reads(X[v * 2:v * 2 + 2])
            T.writes(Y[v])
            Y[v] = T.Let(X[x] + X[x + 1], where={x: v * 2})
        with T.block("doubled"):
            v = T.axis.spatial(1, 0)
            T.reads(X[0:64])
            T.writes(Y[v + 1 + (v + 1) + (v + 1 + (v + 1))])
            a0: T.int32 = v + 1
            a1: T.int32 = a0 + a0
            a2: T.int32 = a1 + a1
            a3: T.int32 = a2 + a2
            a4: T.int32 = a3 + a3
            a5: T.int32 = a4 + a4
            a6: T.int32 = a5 + a5
            a7: T.int32 = a6 + a6
            a8: T.int32 = a7 + a7
            a9: T.int32 = a8 + a8
            a10: T.int32 = a9 + a9
            a11: T.int32 = a10 + a10
            Y[a2] = X[a11]
        with T.block("views"):
            v = T.axis.spatial(2, 0)
            T.reads(X[v * 32:v * 32 + 32])
            T.writes(Y[v])
            V = T.match_buffer(X[v * 32:v * 32 + 32], (32,))
            W = T.match_buffer(V[4:8], (4,))
            Y[v] = W[1]
