# test: pass
# run: lift_transform_params
# Sizes of a weight that only inputs say are open where weights are computed.

@I.ir_module
class Module:
    @R.function
    def main(x: R.Tensor(("m", "n"), "float32"), w: R.Tensor(("m * n",), "float32"), v: R.Tensor((4,), "float32")):
        m = T.int64()
        n = T.int64()
        R.func_attr({"num_input": 1})
        with R.dataflow():
            a = R.exp(v)
            b = R.reshape(w, R.shape([m, n]))
            c = R.multiply(x, b)
            R.output(a, c)
        return (a, c)
# expect:
# from tvm.script import ir as I
# from tvm.script import tir as T
# from tvm.script import relax as R

@I.ir_module
class Module:
    @R.function
    def main(x: R.Tensor(("m", "n"), dtype="float32"), w: R.Tensor(("m * n",), dtype="float32"), a: R.Tensor((4,), dtype="float32")) -> R.Tuple(R.Tensor((4,), dtype="float32"), R.Tensor(("m", "n"), dtype="float32")):
        m = T.int64()
        n = T.int64()
        R.func_attr({"num_input": 1})
        with R.dataflow():
            b: R.Tensor((m, n), dtype="float32") = R.reshape(w, R.shape([m, n]))
            c: R.Tensor((m, n), dtype="float32") = R.multiply(x, b)
            R.output(c)
        gv: R.Tuple(R.Tensor((4,), dtype="float32"), R.Tensor((m, n), dtype="float32")) = (a, c)
        return gv

    @R.function
    def main_transform_params(model_params: R.Tuple(R.Tensor(dtype="float32", ndim=1), R.Tensor((4,), dtype="float32"))) -> R.Tuple(R.Tensor(dtype="float32", ndim=1), R.Tensor((4,), dtype="float32")):
        R.func_attr({"num_input": 0})
        with R.dataflow():
            v: R.Tensor((4,), dtype="float32") = model_params[1]
            a: R.Tensor((4,), dtype="float32") = R.exp(v)
            w: R.Tensor(dtype="float32", ndim=1) = model_params[0]
            output_tuple: R.Tuple(R.Tensor(dtype="float32", ndim=1), R.Tensor((4,), dtype="float32")) = (w, a)
            R.output(output_tuple)
        return output_tuple
