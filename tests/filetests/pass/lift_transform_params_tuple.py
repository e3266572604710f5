# test: pass
# run: lift_transform_params
# The older form: one tuple for all that the weights become, `transform_params` for those of `main`, and no attributes are left.

@I.ir_module
class Module:
    @R.function
    def main(x: R.Tensor((2, 4), "float32"), w: R.Tensor((4, 4), "float32"), b: R.Tensor((4,), "float32"), y: R.Tensor((2, 4), "float32")) -> R.Tensor((2, 4), "float32"):
        R.func_attr({"param_begin": 1, "param_end": 3})
        with R.dataflow():
            t = R.permute_dims(w)
            p = R.matmul(x, t)
            q = R.add(p, b)
            r = R.add(q, y)
            R.output(r)
        return r
# expect:
# from tvm.script import ir as I
# from tvm.script import relax as R

@I.ir_module
class Module:
    @R.function
    def main(x: R.Tensor((2, 4), dtype="float32"), params: R.Tuple(R.Tensor((4,), dtype="float32"), R.Tensor((4, 4), dtype="float32")), y: R.Tensor((2, 4), dtype="float32")) -> R.Tensor((2, 4), dtype="float32"):
        with R.dataflow():
            t: R.Tensor((4, 4), dtype="float32") = params[1]
            p: R.Tensor((2, 4), dtype="float32") = R.matmul(x, t)
            b: R.Tensor((4,), dtype="float32") = params[0]
            q: R.Tensor((2, 4), dtype="float32") = R.add(p, b)
            r: R.Tensor((2, 4), dtype="float32") = R.add(q, y)
            R.output(r)
        return r

    @R.function
    def transform_params(params: R.Tuple(R.Tensor((4, 4), dtype="float32"), R.Tensor((4,), dtype="float32"))) -> R.Tuple(R.Tensor((4,), dtype="float32"), R.Tensor((4, 4), dtype="float32")):
        with R.dataflow():
            w: R.Tensor((4, 4), dtype="float32") = params[0]
            t: R.Tensor((4, 4), dtype="float32") = R.permute_dims(w)
            b: R.Tensor((4,), dtype="float32") = params[1]
            output_tuple: R.Tuple(R.Tensor((4,), dtype="float32"), R.Tensor((4, 4), dtype="float32")) = (b, t)
            R.output(output_tuple)
        return output_tuple
