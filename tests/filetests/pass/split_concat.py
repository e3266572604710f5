# test: pass
# run: split_concat
# A kernel of a GPU binds so many tensors and no more.
@I.ir_module
class Module:
    @R.function
    def main(x: R.Tensor((1, 2), "float32"), y: R.Tensor(("n", 2), "float32")) -> R.Tensor(("10 * n + 10", 2), "float32"):
        n = T.int64()
        with R.dataflow():
            gv = R.concat((x, y, x, y, x, y, x, y, x, y, x, y, x, y, x, y, x, y, x, y), axis=-2)
            R.output(gv)
        return gv
# expect:
# from tvm.script import ir as I
# from tvm.script import tir as T
# from tvm.script import relax as R

@I.ir_module
class Module:
    @R.function
    def main(x: R.Tensor((1, 2), dtype="float32"), y: R.Tensor(("n", 2), dtype="float32")) -> R.Tensor(("10 * n + 10", 2), dtype="float32"):
        n = T.int64()
        with R.dataflow():
            lv: R.Tensor((n * 3 + 4, 2), dtype="float32") = R.concat((x, y, x, y, x, y, x), axis=0)
            lv_1: R.Tensor((n * 4 + 3, 2), dtype="float32") = R.concat((y, x, y, x, y, x, y), axis=0)
            lv_2: R.Tensor((n * 3 + 3, 2), dtype="float32") = R.concat((x, y, x, y, x, y), axis=0)
            gv: R.Tensor((n * 10 + 10, 2), dtype="float32") = R.concat((lv, lv_1, lv_2), axis=0)
            R.output(gv)
        return gv
