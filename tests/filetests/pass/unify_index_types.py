# test: pass
# run: unify_index_types
# Loops of `int32` beside one of `int64` become loops of `int64`; where one of them is data, it keeps its type. A program of one type stays as it is, and
# one that somebody has scheduled.

@I.ir_module
class Module:
    @T.prim_func
    def dense(x: T.handle, W: T.Buffer((32, 48), "float32"), y: T.handle):
        n = T.int64()
        X = T.match_buffer(x, (n, 32), "float32")
        Y = T.match_buffer(y, (n, 48), "float32")
        for i, j, k in T.grid(n, 48, 32):
            with T.block("Y"):
                vi, vj, vk = T.axis.remap("SSR", [i, j, k])
                with T.init():
                    Y[vi, vj] = T.float32(0)
                Y[vi, vj] = Y[vi, vj] + X[vi, vk] * W[vk, vj]

    @T.prim_func
    def columns(x: T.handle, y: T.handle):
        n = T.int64()
        X = T.match_buffer(x, (n, 7), "int32")
        Y = T.match_buffer(y, (n, 8), "int32")
        for i, j in T.grid(n, 8):
            with T.block("Y"):
                vi, vj = T.axis.remap("SS", [i, j])
                Y[vi, vj] = T.if_then_else(1 <= vj, X[vi, vj - 1] * vj, 2 * vj)

    @T.prim_func
    def narrow(X: T.Buffer((8, 4), "float32"), Y: T.Buffer((8, 4), "float32")):
        for i, j in T.grid(8, 4):
            with T.block("Y"):
                vi, vj = T.axis.remap("SS", [i, j])
                Y[vi, vj] = X[vi, vj]

    @T.prim_func
    def by_hand(x: T.handle, y: T.handle):
        n = T.int64()
        X = T.match_buffer(x, (n, 4), "float32")
        Y = T.match_buffer(y, (n, 4), "float32")
        for i in T.parallel(n):
            for j in range(4):
                with T.block("Y"):
                    vi, vj = T.axis.remap("SS", [i, j])
                    Y[vi, vj] = X[vi, vj]
# expect:
# from tvm.script import ir as I
# from tvm.script import tir as T

@I.ir_module
class Module:
    @T.prim_func
    def by_hand(x: T.handle, y: T.handle):
        n = T.int64()
        X = T.match_buffer(x, (n, 4))
        Y = T.match_buffer(y, (n, 4))
        # with T.block("root"):
        for i in T.parallel(n):
            for j in range(4):
                with T.block("Y"):
                    vi, vj = T.axis.remap("SS", [i, j])
                    T.reads(X[vi, vj])
                    T.writes(Y[vi, vj])
                    Y[vi, vj] = X[vi, vj]

    @T.prim_func
    def columns(x: T.handle, y: T.handle):
        n = T.int64()
        X = T.match_buffer(x, (n, 7), "int32")
        Y = T.match_buffer(y, (n, 8), "int32")
        # with T.block("root"):
        for i, j in T.grid(n, T.int64(8)):
            with T.block("Y"):
                vi, vj = T.axis.remap("SS", [i, j])
                T.reads(X[vi, vj - T.int64(1)])
                T.writes(Y[vi, vj])
                Y[vi, vj] = T.if_then_else(T.int64(1) <= vj, X[vi, vj - T.int64(1)] * T.Cast("int32", vj), 2 * T.Cast("int32", vj))

    @T.prim_func
    def dense(x: T.handle, W: T.Buffer((32, 48), "float32"), y: T.handle):
        n = T.int64()
        X = T.match_buffer(x, (n, 32))
        Y = T.match_buffer(y, (n, 48))
        # with T.block("root"):
        for i, j, k in T.grid(n, T.int64(48), T.int64(32)):
            with T.block("Y"):
                vi, vj, vk = T.axis.remap("SSR", [i, j, k])
                T.reads(X[vi, vk], W[vk, vj])
                T.writes(Y[vi, vj])
                with T.init():
                    Y[vi, vj] = T.float32(0)
                Y[vi, vj] = Y[vi, vj] + X[vi, vk] * W[vk, vj]

    @T.prim_func
    def narrow(X: T.Buffer((8, 4), "float32"), Y: T.Buffer((8, 4), "float32")):
        # with T.block("root"):
        for i, j in T.grid(8, 4):
            with T.block("Y"):
                vi, vj = T.axis.remap("SS", [i, j])
                T.reads(X[vi, vj])
                T.writes(Y[vi, vj])
                Y[vi, vj] = X[vi, vj]
