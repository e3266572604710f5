# test: pass
# run: lift_transform_params
# The function for weights is there already: what it gives is transformed further.

@I.ir_module
class Module:
    @R.function
    def main_transform_params(model_params: R.Tuple(R.Tensor((4, "k"), "float32"), R.Tensor(("k",), "float32"))) -> R.Tuple(R.Tensor(("k", 4), "float32"), R.Tensor(("k",), "float32")):
        k = T.int64()
        R.func_attr({"num_input": 0})
        with R.dataflow():
            w = model_params[0]
            t = R.permute_dims(w)
            b = model_params[1]
            output_tuple = (t, b)
            R.output(output_tuple)
        return output_tuple

    @R.function
    def main(x: R.Tensor(("n", "m"), "float32"), t: R.Tensor(("m", 4), "float32"), b: R.Tensor(("m",), "float32")) -> R.Tensor(("n", 4), "float32"):
        R.func_attr({"num_input": 1})
        with R.dataflow():
            u = R.abs(t)
            s = R.add(x, b)
            p = R.matmul(s, u)
            R.output(p)
        return p
# expect:
# from tvm.script import ir as I
# from tvm.script import tir as T
# from tvm.script import relax as R

@I.ir_module
class Module:
    @R.function
    def main(x: R.Tensor(("n", "m"), dtype="float32"), b: R.Tensor(("m",), dtype="float32"), u: R.Tensor(("m", 4), dtype="float32")) -> R.Tensor(("n", 4), dtype="float32"):
        m = T.int64()
        n = T.int64()
        R.func_attr({"num_input": 1})
        with R.dataflow():
            s: R.Tensor((n, m), dtype="float32") = R.add(x, b)
            p: R.Tensor((n, 4), dtype="float32") = R.matmul(s, u)
            R.output(p)
        return p

    @R.function
    def main_transform_params(model_params: R.Tuple(R.Tensor((4, "k"), dtype="float32"), R.Tensor(("k",), dtype="float32"))) -> R.Tuple(R.Tensor(("k",), dtype="float32"), R.Tensor(("k", 4), dtype="float32")):
        k = T.int64()
        R.func_attr({"num_input": 0})
        with R.dataflow():
            w: R.Tensor((4, k), dtype="float32") = model_params[0]
            t: R.Tensor((k, 4), dtype="float32") = R.permute_dims(w)
            b: R.Tensor((k,), dtype="float32") = model_params[1]
            u: R.Tensor((k, 4), dtype="float32") = R.abs(t)
            output_tuple: R.Tuple(R.Tensor((k,), dtype="float32"), R.Tensor((k, 4), dtype="float32")) = (b, u)
            R.output(output_tuple)
        return output_tuple
