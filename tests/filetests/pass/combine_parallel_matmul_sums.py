# test: pass
# run: combine_parallel_matmul
# What is added to a product is no bias if it is a product of the group: that is there only after it.

@I.ir_module
class Module:
    @R.function
    def main(x: R.Tensor((2, 4), "float32"), v: R.Tensor((4, 6), "float32"), w: R.Tensor((4, 6), "float32")):
        with R.dataflow():
            a = R.matmul(x, v)
            b = R.matmul(x, w)
            c = R.add(a, b)
            R.output(c)
        return c
# expect:
# from tvm.script import ir as I
# from tvm.script import relax as R

@I.ir_module
class Module:
    @R.function
    def main(x: R.Tensor((2, 4), dtype="float32"), v: R.Tensor((4, 6), dtype="float32"), w: R.Tensor((4, 6), dtype="float32")) -> R.Tensor((2, 6), dtype="float32"):
        with R.dataflow():
            lv: R.Tensor((4, 12), dtype="float32") = R.concat((v, w), axis=1)
            lv_1: R.Tensor((2, 12), dtype="float32") = R.matmul(x, lv, out_dtype=R.dtype("float32"))
            lv_2: R.Tuple(R.Tensor((2, 6), dtype="float32"), R.Tensor((2, 6), dtype="float32")) = R.split(lv_1, indices_or_sections=[6], axis=1)
            a: R.Tensor((2, 6), dtype="float32") = lv_2[0]
            b: R.Tensor((2, 6), dtype="float32") = lv_2[1]
            c: R.Tensor((2, 6), dtype="float32") = R.add(a, b)
            R.output(c)
        return c
