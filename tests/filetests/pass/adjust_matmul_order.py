# test: pass
# run: adjust_matmul_order
# A vector goes through both matrices, one after the other; the product of weights comes first; transposed products turn
# round. Sizes without bounds, a product in another element type and batches of vectors stay as they are.

@I.ir_module
class Module:
    @R.function
    def vector(x: R.Tensor((8,), "float32"), a: R.Tensor((8, 2), "float32"), b: R.Tensor((2, 8), "float32")):
        with R.dataflow():
            w = R.matmul(a, b)
            y = R.matmul(x, w)
            R.output(y)
        return y

    @R.function
    def column(a: R.Tensor((8, 2), "float32"), b: R.Tensor((2, 8), "float32"), x: R.Tensor((8, 1), "float32")):
        w = R.matmul(a, b)
        y = R.matmul(w, x)
        return y

    @R.function
    def weights(x: R.Tensor((2, 8), "float32"), a: R.Tensor((8, 8), "float32"), b: R.Tensor((8, 8), "float32")):
        R.func_attr({"num_input": 1})
        with R.dataflow():
            y = R.matmul(x, a)
            z = R.matmul(y, b)
            R.output(z)
        return z

    @R.function
    def transposed(x: R.Tensor((1, 8), "float32"), a: R.Tensor((8, 2), "float32"), b: R.Tensor((2, 8), "float32")):
        with R.dataflow():
            w = R.matmul(a, b)
            v = R.permute_dims(w)
            y = R.matmul(x, v)
            R.output(y)
        return y

    @R.function
    def bounded(x: R.Tensor(("n", 64), "float32"), a: R.Tensor((64, "r"), "float32"), b: R.Tensor(("r", 64), "float32")):
        R.func_attr({"tir_var_upper_bound": {"n": 32, "r": 32}})
        with R.dataflow():
            w = R.matmul(a, b)
            y = R.matmul(x, w)
            R.output(y)
        return y

    @R.function
    def open(x: R.Tensor(("n", 64), "float32"), a: R.Tensor((64, "r"), "float32"), b: R.Tensor(("r", 64), "float32")):
        with R.dataflow():
            w = R.matmul(a, b)
            y = R.matmul(x, w)
            R.output(y)
        return y

    @R.function
    def rounded(x: R.Tensor((8,), "float16"), a: R.Tensor((8, 2), "float16"), b: R.Tensor((2, 8), "float32")):
        with R.dataflow():
            v = R.matmul(x, a, out_dtype="float32")
            y = R.matmul(v, b)
            R.output(y)
        return y

    @R.function
    def batch(x: R.Tensor((8,), "float32"), a: R.Tensor((3, 8, 2), "float32"), b: R.Tensor((3, 2, 8), "float32")):
        with R.dataflow():
            w = R.matmul(a, b)
            y = R.matmul(x, w)
            R.output(y)
        return y
# expect:
# from tvm.script import ir as I
# from tvm.script import tir as T
# from tvm.script import relax as R

@I.ir_module
class Module:
    @R.function
    def batch(x: R.Tensor((8,), dtype="float32"), a: R.Tensor((3, 8, 2), dtype="float32"), b: R.Tensor((3, 2, 8), dtype="float32")) -> R.Tensor((3, 8), dtype="float32"):
        with R.dataflow():
            w: R.Tensor((3, 8, 8), dtype="float32") = R.matmul(a, b)
            y: R.Tensor((3, 8), dtype="float32") = R.matmul(x, w)
            R.output(y)
        return y

    @R.function
    def bounded(x: R.Tensor(("n", 64), dtype="float32"), a: R.Tensor((64, "r"), dtype="float32"), b: R.Tensor(("r", 64), dtype="float32")) -> R.Tensor(("n", 64), dtype="float32"):
        n = T.int64()
        r = T.int64()
        R.func_attr({"tir_var_upper_bound": {"n": 32, "r": 32}})
        with R.dataflow():
            lv: R.Tensor((n, r), dtype="float32") = R.matmul(x, a)
            y: R.Tensor((n, 64), dtype="float32") = R.matmul(lv, b)
            R.output(y)
        return y

    @R.function
    def column(a: R.Tensor((8, 2), dtype="float32"), b: R.Tensor((2, 8), dtype="float32"), x: R.Tensor((8, 1), dtype="float32")) -> R.Tensor((8, 1), dtype="float32"):
        lv: R.Tensor((2, 1), dtype="float32") = R.matmul(b, x)
        y: R.Tensor((8, 1), dtype="float32") = R.matmul(a, lv)
        return y

    @R.function
    def open(x: R.Tensor(("n", 64), dtype="float32"), a: R.Tensor((64, "r"), dtype="float32"), b: R.Tensor(("r", 64), dtype="float32")) -> R.Tensor(("n", 64), dtype="float32"):
        n = T.int64()
        r = T.int64()
        with R.dataflow():
            w: R.Tensor((64, 64), dtype="float32") = R.matmul(a, b)
            y: R.Tensor((n, 64), dtype="float32") = R.matmul(x, w)
            R.output(y)
        return y

    @R.function
    def rounded(x: R.Tensor((8,), dtype="float16"), a: R.Tensor((8, 2), dtype="float16"), b: R.Tensor((2, 8), dtype="float32")) -> R.Tensor((8,), dtype="float32"):
        with R.dataflow():
            v: R.Tensor((2,), dtype="float32") = R.matmul(x, a, out_dtype=R.dtype("float32"))
            y: R.Tensor((8,), dtype="float32") = R.matmul(v, b)
            R.output(y)
        return y

    @R.function
    def transposed(x: R.Tensor((1, 8), dtype="float32"), a: R.Tensor((8, 2), dtype="float32"), b: R.Tensor((2, 8), dtype="float32")) -> R.Tensor((1, 8), dtype="float32"):
        with R.dataflow():
            lv: R.Tensor((8, 2), dtype="float32") = R.permute_dims(b)
            lv_1: R.Tensor((1, 2), dtype="float32") = R.matmul(x, lv)
            lv_2: R.Tensor((2, 8), dtype="float32") = R.permute_dims(a)
            y: R.Tensor((1, 8), dtype="float32") = R.matmul(lv_1, lv_2)
            R.output(y)
        return y

    @R.function
    def vector(x: R.Tensor((8,), dtype="float32"), a: R.Tensor((8, 2), dtype="float32"), b: R.Tensor((2, 8), dtype="float32")) -> R.Tensor((8,), dtype="float32"):
        with R.dataflow():
            lv: R.Tensor((2,), dtype="float32") = R.matmul(x, a)
            y: R.Tensor((8,), dtype="float32") = R.matmul(lv, b)
            R.output(y)
        return y

    @R.function
    def weights(x: R.Tensor((2, 8), dtype="float32"), a: R.Tensor((8, 8), dtype="float32"), b: R.Tensor((8, 8), dtype="float32")) -> R.Tensor((2, 8), dtype="float32"):
        R.func_attr({"num_input": 1})
        with R.dataflow():
            lv: R.Tensor((8, 8), dtype="float32") = R.matmul(a, b)
            z: R.Tensor((2, 8), dtype="float32") = R.matmul(x, lv)
            R.output(z)
        return z
