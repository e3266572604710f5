# test: pass
# run: expand_matmul_of_sum
# A sum that needs a run is expanded, also transposed; one of weights and one that broadcasts stay.

@I.ir_module
class Module:
    @R.function
    def sums(x: R.Tensor((2, 4), "float32"), a: R.Tensor((4, 3), "float32"), b: R.Tensor((4, 3), "float32"), c: R.Tensor((3, 4), "float32")):
        with R.dataflow():
            w = R.add(a, b)
            y = R.matmul(x, w)
            v = R.add(c, c)
            t = R.permute_dims(v)
            z = R.matmul(x, t)
            R.output(y, z)
        return (y, z)

    @R.function
    def weights(x: R.Tensor((2, 4), "float32"), a: R.Tensor((4, 3), "float32"), b: R.Tensor((4, 3), "float32")):
        R.func_attr({"num_input": 1})
        w = R.add(a, b)
        y = R.matmul(x, w)
        return y

    @R.function
    def row(x: R.Tensor((2, 4), "float32"), a: R.Tensor((4, 3), "float32"), b: R.Tensor((3,), "float32")):
        w = R.add(a, b)
        y = R.matmul(x, w)
        return y
# expect:
# from tvm.script import ir as I
# from tvm.script import relax as R

@I.ir_module
class Module:
    @R.function
    def row(x: R.Tensor((2, 4), dtype="float32"), a: R.Tensor((4, 3), dtype="float32"), b: R.Tensor((3,), dtype="float32")) -> R.Tensor((2, 3), dtype="float32"):
        w: R.Tensor((4, 3), dtype="float32") = R.add(a, b)
        y: R.Tensor((2, 3), dtype="float32") = R.matmul(x, w)
        return y

    @R.function
    def sums(x: R.Tensor((2, 4), dtype="float32"), a: R.Tensor((4, 3), dtype="float32"), b: R.Tensor((4, 3), dtype="float32"), c: R.Tensor((3, 4), dtype="float32")) -> R.Tuple(R.Tensor((2, 3), dtype="float32"), R.Tensor((2, 3), dtype="float32")):
        with R.dataflow():
            lv: R.Tensor((2, 3), dtype="float32") = R.matmul(x, a)
            lv_1: R.Tensor((2, 3), dtype="float32") = R.matmul(x, b)
            y: R.Tensor((2, 3), dtype="float32") = R.add(lv, lv_1)
            lv_2: R.Tensor((4, 3), dtype="float32") = R.permute_dims(c)
            lv_3: R.Tensor((2, 3), dtype="float32") = R.matmul(x, lv_2)
            z: R.Tensor((2, 3), dtype="float32") = R.add(lv_3, lv_3)
            R.output(y, z)
        return (y, z)

    @R.function
    def weights(x: R.Tensor((2, 4), dtype="float32"), a: R.Tensor((4, 3), dtype="float32"), b: R.Tensor((4, 3), dtype="float32")) -> R.Tensor((2, 3), dtype="float32"):
        R.func_attr({"num_input": 1})
        w: R.Tensor((4, 3), dtype="float32") = R.add(a, b)
        y: R.Tensor((2, 3), dtype="float32") = R.matmul(x, w)
        return y
