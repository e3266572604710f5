# test: pass
# run: lift_transform_params
# Inference needs `at`, which only a weight says, and `n` for the type of what it gets.

@I.ir_module
class Module:
    @T.prim_func(private=True)
    def row(A: T.Buffer((16, 16), "float32"), B: T.Buffer((16,), "float32"), at: T.int64):
        for i in range(16):
            with T.block("B"):
                vi = T.axis.spatial(16, i)
                B[vi] = A[at, vi]

    @R.function
    def main(x: R.Tensor((16, 16), "float32"), w: R.Tensor((16, 16), "float32"), where: R.Shape(["at"]), v: R.Tensor(("n", 2), "float32")) -> R.Tensor(("n * 2",), "float32"):
        cls = Module
        at, n = T.int64(), T.int64()
        R.func_attr({"num_input": 1})
        with R.dataflow():
            a = R.call_tir(cls.row, (w,), R.Tensor((16,), "float32"), tir_vars=R.shape([at]))
            b = R.call_tir(cls.row, (x,), R.Tensor((16,), "float32"), tir_vars=R.shape([at]))
            c = R.sum(R.add(a, b))
            d = R.reshape(v, R.shape([n * 2]))
            e = R.multiply(c, d)
            R.output(e)
        return e
# expect:
# from tvm.script import ir as I
# from tvm.script import tir as T
# from tvm.script import relax as R

@I.ir_module
class Module:
    @T.prim_func(private=True)
    def row(A: T.Buffer((16, 16), "float32"), B: T.Buffer((16,), "float32"), at: T.int64):
        # with T.block("root"):
        for i in range(16):
            with T.block("B"):
                vi = T.axis.spatial(16, i)
                T.reads(A[at, vi])
                T.writes(B[vi])
                B[vi] = A[at, vi]

    @R.function
    def main(x: R.Tensor((16, 16), dtype="float32"), vars_from_compile_time_params: R.Shape(["at", "n"]), a: R.Tensor((16,), dtype="float32"), d: R.Tensor(("n * 2",), dtype="float32")) -> R.Tensor(("n * 2",), dtype="float32"):
        at = T.int64()
        n = T.int64()
        R.func_attr({"num_input": 1})
        cls = Module
        with R.dataflow():
            b = R.call_tir(cls.row, (x,), out_sinfo=R.Tensor((16,), dtype="float32"), tir_vars=R.shape([at]))
            lv: R.Tensor((16,), dtype="float32") = R.add(a, b)
            c: R.Tensor((), dtype="float32") = R.sum(lv, keepdims=False)
            e: R.Tensor((n * 2,), dtype="float32") = R.multiply(c, d)
            R.output(e)
        return e

    @R.function
    def main_transform_params(model_params: R.Tuple(R.Tensor((16, 16), dtype="float32"), R.Shape(["at"]), R.Tensor(("n", 2), dtype="float32"))) -> R.Tuple(R.Shape(["at", "n"]), R.Tensor((16,), dtype="float32"), R.Tensor(("n * 2",), dtype="float32")):
        at = T.int64()
        n = T.int64()
        R.func_attr({"num_input": 0})
        cls = Module
        with R.dataflow():
            w: R.Tensor((16, 16), dtype="float32") = model_params[0]
            a = R.call_tir(cls.row, (w,), out_sinfo=R.Tensor((16,), dtype="float32"), tir_vars=R.shape([at]))
            v: R.Tensor((n, 2), dtype="float32") = model_params[2]
            d: R.Tensor((n * 2,), dtype="float32") = R.reshape(v, R.shape([n * 2]))
            output_tuple: R.Tuple(R.Shape([at, n]), R.Tensor((16,), dtype="float32"), R.Tensor((n * 2,), dtype="float32")) = (R.shape([at, n]), a, d)
            R.output(output_tuple)
        return output_tuple
