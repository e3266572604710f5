# test: pass
# run: lift_transform_params {"shared_transform": true}
# Only what both functions compute of their weights is shared, in whatever order. What one of them does not use it takes all the same.

@I.ir_module
class Module:
    @R.function
    def decode(x: R.Tensor((1, 4), "float32"), v: R.Tensor((4, "k"), "float32"), w: R.Tensor((4, 4), "float32")) -> R.Tensor((1, "k"), "float32"):
        k = T.int64()
        R.func_attr({"num_input": 1})
        with R.dataflow():
            b = R.exp(w)
            a = R.negative(v)
            y = R.matmul(x, b)
            z = R.matmul(y, a)
            R.output(z)
        return z

    @R.function
    def prefill(x: R.Tensor(("n", 4), "float32"), y: R.Tensor(("n", 4), "float32"), v: R.Tensor((4, "m"), "float32"), w: R.Tensor((4, 4), "float32")) -> R.Tensor(("n", "m"), "float32"):
        n, m = T.int64(), T.int64()
        R.func_attr({"num_input": 2})
        with R.dataflow():
            a = R.negative(v)
            c = R.add(x, y)
            d = R.matmul(c, R.abs(w))
            z = R.matmul(d, a)
            R.output(z)
        return z
# expect:
# from tvm.script import ir as I
# from tvm.script import tir as T
# from tvm.script import relax as R

@I.ir_module
class Module:
    @R.function
    def decode(x: R.Tensor((1, 4), dtype="float32"), w: R.Tensor((4, 4), dtype="float32"), a: R.Tensor((4, "k"), dtype="float32")) -> R.Tensor((1, "k"), dtype="float32"):
        k = T.int64()
        R.func_attr({"num_input": 1})
        with R.dataflow():
            b: R.Tensor((4, 4), dtype="float32") = R.exp(w)
            y: R.Tensor((1, 4), dtype="float32") = R.matmul(x, b)
            z: R.Tensor((1, k), dtype="float32") = R.matmul(y, a)
            R.output(z)
        return z

    @R.function
    def prefill(x: R.Tensor(("n", 4), dtype="float32"), y: R.Tensor(("n", 4), dtype="float32"), w: R.Tensor((4, 4), dtype="float32"), a: R.Tensor((4, "m"), dtype="float32")) -> R.Tensor(("n", "m"), dtype="float32"):
        m = T.int64()
        n = T.int64()
        R.func_attr({"num_input": 2})
        with R.dataflow():
            c: R.Tensor((n, 4), dtype="float32") = R.add(x, y)
            lv: R.Tensor((4, 4), dtype="float32") = R.abs(w)
            d: R.Tensor((n, 4), dtype="float32") = R.matmul(c, lv)
            z: R.Tensor((n, m), dtype="float32") = R.matmul(d, a)
            R.output(z)
        return z

    @R.function
    def transform_params(model_params: R.Tuple(R.Tensor((4, "k"), dtype="float32"), R.Tensor((4, 4), dtype="float32"))) -> R.Tuple(R.Tensor((4, 4), dtype="float32"), R.Tensor((4, "k"), dtype="float32")):
        k = T.int64()
        R.func_attr({"num_input": 0})
        with R.dataflow():
            v: R.Tensor((4, k), dtype="float32") = model_params[0]
            a: R.Tensor((4, k), dtype="float32") = R.negative(v)
            w: R.Tensor((4, 4), dtype="float32") = model_params[1]
            output_tuple: R.Tuple(R.Tensor((4, 4), dtype="float32"), R.Tensor((4, k), dtype="float32")) = (w, a)
            R.output(output_tuple)
        return output_tuple
