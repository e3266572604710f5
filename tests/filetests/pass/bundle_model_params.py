# test: pass
# run: bundle_model_params {"param_tuple_name": "weights"}
# Each use takes its element, in branches and in functions inside too. A function without the attribute stays.

@I.ir_module
class Module:
    @R.function
    def main(x: R.Tensor((4,), "float32"), w: R.Tensor((4,), "float32"), c: R.Tensor((), "bool")) -> R.Tensor((4,), "float32"):
        R.func_attr({"num_input": 1})
        with R.dataflow():
            a = R.multiply(w, w)
            b = R.add(x, a)
            R.output(b)
        @R.function
        def inner(y: R.Tensor((4,), "float32")) -> R.Tensor((4,), "float32"):
            z = R.add(y, w)
            return z
        if c:
            d = R.add(b, w)
            e = d
        else:
            e = w
        f = inner(e)
        return f

    @R.function
    def other(x: R.Tensor((4,), "float32")) -> R.Tensor((4,), "float32"):
        y = R.exp(x)
        return y
# expect:
# from tvm.script import ir as I
# from tvm.script import relax as R

@I.ir_module
class Module:
    @R.function
    def main(x: R.Tensor((4,), dtype="float32"), weights: R.Tuple(R.Tensor((4,), dtype="float32"), R.Tensor((), dtype="bool"))) -> R.Tensor((4,), dtype="float32"):
        R.func_attr({"num_input": 1})
        with R.dataflow():
            w: R.Tensor((4,), dtype="float32") = weights[0]
            w_1: R.Tensor((4,), dtype="float32") = weights[0]
            a: R.Tensor((4,), dtype="float32") = R.multiply(w, w_1)
            b: R.Tensor((4,), dtype="float32") = R.add(x, a)
            R.output(b)
        @R.function
        def inner(y: R.Tensor((4,), dtype="float32")) -> R.Tensor((4,), dtype="float32"):
            w_2: R.Tensor((4,), dtype="float32") = weights[0]
            z: R.Tensor((4,), dtype="float32") = R.add(y, w_2)
            return z
        c: R.Tensor((), dtype="bool") = weights[1]
        if c:
            w_2: R.Tensor((4,), dtype="float32") = weights[0]
            d: R.Tensor((4,), dtype="float32") = R.add(b, w_2)
            e: R.Tensor((4,), dtype="float32") = d
        else:
            w_3: R.Tensor((4,), dtype="float32") = weights[0]
            e: R.Tensor((4,), dtype="float32") = w_3
        f: R.Tensor((4,), dtype="float32") = inner(e)
        return f

    @R.function
    def other(x: R.Tensor((4,), dtype="float32")) -> R.Tensor((4,), dtype="float32"):
        y: R.Tensor((4,), dtype="float32") = R.exp(x)
        return y
