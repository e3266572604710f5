# test: pass
# run: fold_constant
# Operators of constants in dataflow blocks, and loop programs of constants anywhere. Zeros of more than 1024 elements stay.

@I.ir_module
class Module:
    @T.prim_func
    def double(A: T.Buffer((4,), "float32"), B: T.Buffer((4,), "float32")):
        for i in range(4):
            with T.block("B"):
                vi = T.axis.spatial(4, i)
                B[vi] = A[vi] * T.float32(2)

    @R.function
    def main(x: R.Tensor((4,), "float32"), y: R.Tensor(("n", 6), "float32")):
        cls = Module
        with R.dataflow():
            o = R.ones((2, 2), "float32")
            a = R.add(x, R.sum(o))
            s = R.tensor_to_shape(R.concat((R.full((1,), R.const(-1, "int64"), "int64"), R.full((1,), R.const(3, "int64"), "int64"))))
            z = R.zeros((8000,), "float32")
            zz = R.exp(z)
            R.output(a, zz)
        e = R.exp(R.const(0, "float32"))
        d = R.call_tir(cls.double, (R.add(x, e),), R.Tensor((4,), "float32"))
        return (a, zz, d)
# expect:
# from tvm.script import ir as I
# from tvm.script import tir as T
# from tvm.script import relax as R

@I.ir_module
class Module:
    @T.prim_func
    def double(A: T.Buffer((4,), "float32"), B: T.Buffer((4,), "float32")):
        # with T.block("root"):
        for i in range(4):
            with T.block("B"):
                vi = T.axis.spatial(4, i)
                T.reads(A[vi])
                T.writes(B[vi])
                B[vi] = A[vi] * T.float32(2)

    @R.function
    def main(x: R.Tensor((4,), dtype="float32"), y: R.Tensor(("n", 6), dtype="float32")) -> R.Tuple(R.Tensor((4,), dtype="float32"), R.Tensor((8000,), dtype="float32"), R.Tensor((4,), dtype="float32")):
        n = T.int64()
        cls = Module
        with R.dataflow():
            a: R.Tensor((4,), dtype="float32") = R.add(x, R.const(4.0, "float32"))
            z: R.Tensor((8000,), dtype="float32") = R.zeros(R.shape([8000]), dtype=R.dtype("float32"))
            zz: R.Tensor((8000,), dtype="float32") = R.exp(z)
            R.output(a, zz)
        e: R.Tensor((), dtype="float32") = R.exp(R.const(0.0, "float32"))
        lv: R.Tensor((4,), dtype="float32") = R.add(x, e)
        d = R.call_tir(cls.double, (lv,), out_sinfo=R.Tensor((4,), dtype="float32"))
        return (a, zz, d)
