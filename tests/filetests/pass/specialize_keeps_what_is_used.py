# test: pass
# run: specialize, dead_code_elimination
# A loop program stays where a call has no constant for it, and where nobody called it before. Names are not taken twice.

@I.ir_module
class Module:
    @T.prim_func
    def copy(x: T.handle, y: T.handle, z: T.handle):
        n = T.int64()
        X = T.match_buffer(x, (n,), "float32")
        Y = T.match_buffer(y, (n,), "float32")
        Z = T.match_buffer(z, (n,), "float32")
        for i in range(n):
            with T.block("Y"):
                vi = T.axis.spatial(n, i)
                Y[vi] = X[vi]
        for i in range(n):
            with T.block("Z"):
                vi = T.axis.spatial(n, i)
                Z[vi] = X[vi] + T.float32(1)

    @T.prim_func
    def copy_8(x: T.handle, y: T.handle):
        n = T.int64()
        X = T.match_buffer(x, (n,), "float32")
        Y = T.match_buffer(y, (n,), "float32")
        for i in range(n):
            with T.block("Y"):
                vi = T.axis.spatial(n, i)
                Y[vi] = X[vi]

    @R.function
    def main(x: R.Tensor(("n",), "float32"), y: R.Tensor((8,), "float32")):
        n = T.int64()
        with R.dataflow():
            a = R.call_tir(copy, (x,), (R.Tensor((n,), "float32"), R.Tensor((n,), "float32")))
            b = R.call_tir(copy, (y,), (R.Tensor((8,), "float32"), R.Tensor((8,), "float32")))
            R.output(a, b)
        return (a, b)
# expect:
# from tvm.script import ir as I
# from tvm.script import tir as T
# from tvm.script import relax as R

@I.ir_module
class Module:
    @T.prim_func
    def copy(x: T.handle, y: T.handle, z: T.handle):
        n = T.int64()
        X = T.match_buffer(x, (n,))
        Y = T.match_buffer(y, (n,))
        Z = T.match_buffer(z, (n,))
        # with T.block("root"):
        for i in range(n):
            with T.block("Y"):
                vi = T.axis.spatial(n, i)
                T.reads(X[vi])
                T.writes(Y[vi])
                Y[vi] = X[vi]
        for i in range(n):
            with T.block("Z"):
                vi = T.axis.spatial(n, i)
                T.reads(X[vi])
                T.writes(Z[vi])
                Z[vi] = X[vi] + T.float32(1)

    @T.prim_func
    def copy_8(x: T.handle, y: T.handle):
        n = T.int64()
        X = T.match_buffer(x, (n,))
        Y = T.match_buffer(y, (n,))
        # with T.block("root"):
        for i in range(n):
            with T.block("Y"):
                vi = T.axis.spatial(n, i)
                T.reads(X[vi])
                T.writes(Y[vi])
                Y[vi] = X[vi]

    @T.prim_func
    def copy_8_1(X: T.Buffer((8,), "float32"), Y: T.Buffer((8,), "float32"), Z: T.Buffer((8,), "float32")):
        # with T.block("root"):
        for i in range(T.int64(8)):
            with T.block("Y"):
                vi = T.axis.spatial(T.int64(8), i)
                T.reads(X[vi])
                T.writes(Y[vi])
                Y[vi] = X[vi]
        for i in range(T.int64(8)):
            with T.block("Z"):
                vi = T.axis.spatial(T.int64(8), i)
                T.reads(X[vi])
                T.writes(Z[vi])
                Z[vi] = X[vi] + T.float32(1)

    @R.function
    def main(x: R.Tensor(("n",), dtype="float32"), y: R.Tensor((8,), dtype="float32")) -> R.Tuple(R.Tuple(R.Tensor(("n",), dtype="float32"), R.Tensor(("n",), dtype="float32")), R.Tuple(R.Tensor((8,), dtype="float32"), R.Tensor((8,), dtype="float32"))):
        n = T.int64()
        cls = Module
        with R.dataflow():
            a = R.call_tir(cls.copy, (x,), out_sinfo=[R.Tensor((n,), dtype="float32"), R.Tensor((n,), dtype="float32")])
            b = R.call_tir(cls.copy_8_1, (y,), out_sinfo=[R.Tensor((8,), dtype="float32"), R.Tensor((8,), dtype="float32")])
            R.output(a, b)
        return (a, b)
