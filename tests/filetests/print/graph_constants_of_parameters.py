# test: print
# Arithmetic on numbers has the type of the parameter or extent that it is given for: TVM prints it without one.

@I.ir_module
class Module:
    @T.prim_func(private=True)
    def scaled(x: T.Buffer((4,), "float32"), k: T.int64, y: T.Buffer((4,), "float32")):
        for i in range(4):
            with T.block("y"):
                vi = T.axis.spatial(4, i)
                y[vi] = x[vi] * T.Cast("float32", k)

    @R.function
    def main(x: R.Tensor((4,), "float32")):
        cls = Module
        a = R.call_tir(cls.scaled, (x, T.Add(3, 1)), out_ty=R.Tensor((T.Add(3, 1),), "float32"))
        b = R.reshape(a, R.shape([T.Add(1, 1), 2]))
        return b
# expect:
# from tvm.script import ir as I
# from tvm.script import tir as T
# from tvm.script import relax as R

@I.ir_module
class Module:
    @T.prim_func(private=True)
    def scaled(x: T.Buffer((4,), "float32"), k: T.int64, y: T.Buffer((4,), "float32")):
        # with T.block("root"):
        for i in range(4):
            with T.block("y"):
                vi = T.axis.spatial(4, i)
                T.reads(x[vi])
                T.writes(y[vi])
                y[vi] = x[vi] * T.Cast("float32", k)

    @R.function
    def main(x: R.Tensor((4,), dtype="float32")) -> R.Tensor(("T.Add(T.int64(1), T.int64(1))", 2), dtype="float32"):
        cls = Module
        a = R.call_tir(cls.scaled, (x, R.prim_value(T.Add(T.int64(3), T.int64(1)))), out_sinfo=R.Tensor((T.Add(T.int64(3), T.int64(1)),), dtype="float32"))
        b: R.Tensor((T.Add(T.int64(1), T.int64(1)), 2), dtype="float32") = R.reshape(a, R.shape([T.Add(T.int64(1), T.int64(1)), 2]))
        return b
