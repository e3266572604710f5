# test: pass
# run: add_variants
# A product of open rows gets a variant for one row; one whose columns are as open as its rows gets one for large products, and what is no
# product gets none.

@I.ir_module
class Module:
    @T.prim_func
    def dense(x: T.handle, W: T.Buffer((32, 48), "float32"), y: T.handle):
        n, m = T.int64(), T.int64()
        X = T.match_buffer(x, (n, m, 32), "float32")
        Y = T.match_buffer(y, (n, m, 48), "float32")
        for i, j, o, k in T.grid(n, m, 48, 32):
            with T.block("Y"):
                vi, vj, vo, vk = T.axis.remap("SSSR", [i, j, o, k])
                with T.init():
                    Y[vi, vj, vo] = T.float32(0)
                Y[vi, vj, vo] = Y[vi, vj, vo] + X[vi, vj, vk] * W[vk, vo]

    @T.prim_func
    def scores(x: T.handle, y: T.handle):
        n = T.int64()
        X = T.match_buffer(x, (n, 32), "float32")
        Y = T.match_buffer(y, (n, n), "float32")
        for i, j, k in T.grid(n, n, 32):
            with T.block("Y"):
                vi, vj, vk = T.axis.remap("SSR", [i, j, k])
                with T.init():
                    Y[vi, vj] = T.float32(0)
                Y[vi, vj] = Y[vi, vj] + X[vi, vk] * X[vj, vk]

    @T.prim_func
    def double(x: T.handle, y: T.handle):
        n = T.int64()
        X = T.match_buffer(x, (n,), "float32")
        Y = T.match_buffer(y, (n,), "float32")
        for i in range(n):
            with T.block("Y"):
                vi = T.axis.spatial(n, i)
                Y[vi] = X[vi] * T.float32(2)
# expect:
# from tvm.script import ir as I
# from tvm.script import tir as T

@I.ir_module
class Module:
    @T.prim_func
    def dense(x: T.handle, W: T.Buffer((32, 48), "float32"), y: T.handle):
        T.func_attr({"usual_sizes": {"n": 4096, "m": 1}})
        n, m = T.int64(), T.int64()
        X = T.match_buffer(x, (n, m, 32))
        Y = T.match_buffer(y, (n, m, 48))
        # with T.block("root"):
        for i, j, o, k in T.grid(n, m, 48, 32):
            with T.block("Y"):
                vi, vj, vo, vk = T.axis.remap("SSSR", [i, j, o, k])
                T.reads(X[vi, vj, vk], W[vk, vo])
                T.writes(Y[vi, vj, vo])
                with T.init():
                    Y[vi, vj, vo] = T.float32(0)
                Y[vi, vj, vo] = Y[vi, vj, vo] + X[vi, vj, vk] * W[vk, vo]

    @T.prim_func
    def dense_n_1_m_1(X: T.Buffer((1, 1, 32), "float32"), W: T.Buffer((32, 48), "float32"), Y: T.Buffer((1, 1, 48), "float32")):
        T.func_attr({"variant_of": "dense"})
        # with T.block("root"):
        for i, j, o, k in T.grid(T.int64(1), T.int64(1), 48, 32):
            with T.block("Y"):
                vi, vj, vo, vk = T.axis.remap("SSSR", [i, j, o, k])
                T.reads(X[vi, vj, vk], W[vk, vo])
                T.writes(Y[vi, vj, vo])
                with T.init():
                    Y[vi, vj, vo] = T.float32(0)
                Y[vi, vj, vo] = Y[vi, vj, vo] + X[vi, vj, vk] * W[vk, vo]

    @T.prim_func
    def double(x: T.handle, y: T.handle):
        n = T.int64()
        X = T.match_buffer(x, (n,))
        Y = T.match_buffer(y, (n,))
        # with T.block("root"):
        for i in range(n):
            with T.block("Y"):
                vi = T.axis.spatial(n, i)
                T.reads(X[vi])
                T.writes(Y[vi])
                Y[vi] = X[vi] * T.float32(2)

    @T.prim_func
    def scores(x: T.handle, y: T.handle):
        n = T.int64()
        X = T.match_buffer(x, (n, 32))
        Y = T.match_buffer(y, (n, n))
        # with T.block("root"):
        for i, j, k in T.grid(n, n, 32):
            with T.block("Y"):
                vi, vj, vk = T.axis.remap("SSR", [i, j, k])
                T.reads(X[T.min(vi, vj):T.min(vi, vj) + (T.max(vi, vj) - T.min(vi, vj) + T.int64(1)), vk])
                T.writes(Y[vi, vj])
                with T.init():
                    Y[vi, vj] = T.float32(0)
                Y[vi, vj] = Y[vi, vj] + X[vi, vk] * X[vj, vk]

    @T.prim_func
    def scores_large(x: T.handle, y: T.handle):
        T.func_attr({"usual_sizes": {"n": 512}, "variant_of": "scores"})
        n = T.int64()
        X = T.match_buffer(x, (n, 32))
        Y = T.match_buffer(y, (n, n))
        # with T.block("root"):
        assert T.int64(256) <= n, "a variant for large products"
        for i, j, k in T.grid(n, n, 32):
            with T.block("Y"):
                vi, vj, vk = T.axis.remap("SSR", [i, j, k])
                T.reads(X[T.min(vi, vj):T.min(vi, vj) + (T.max(vi, vj) - T.min(vi, vj) + T.int64(1)), vk])
                T.writes(Y[vi, vj])
                with T.init():
                    Y[vi, vj] = T.float32(0)
                Y[vi, vj] = Y[vi, vj] + X[vi, vk] * X[vj, vk]
