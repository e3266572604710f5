# test: pass
# run: remove_redundant_permute_dims
# Of transposes in a row one is left, or none: also where others use the first, and where the order is not written.

@I.ir_module
class Module:
    @R.function
    def main(x: R.Tensor((2, "n", 4), "float32"), y: R.Tensor((2, 3), "float32")):
        n = T.int64()
        with R.dataflow():
            a = R.permute_dims(x, axes=[0, 2, 1])
            b = R.permute_dims(a, axes=[2, 0, 1])
            c = R.permute_dims(b, axes=[0, -1, 1])
            d = R.permute_dims(a, axes=[0, 2, 1])
            e = R.exp(d)
            f = R.permute_dims(R.permute_dims(y))
            g = R.permute_dims(e, axes=[0, 1, 2])
            R.output(a, c, f, g)
        return (a, c, f, g)
# expect:
# from tvm.script import ir as I
# from tvm.script import tir as T
# from tvm.script import relax as R

@I.ir_module
class Module:
    @R.function
    def main(x: R.Tensor((2, "n", 4), dtype="float32"), y: R.Tensor((2, 3), dtype="float32")) -> R.Tuple(R.Tensor((2, 4, "n"), dtype="float32"), R.Tensor(("n", 4, 2), dtype="float32"), R.Tensor((2, 3), dtype="float32"), R.Tensor((2, "n", 4), dtype="float32")):
        n = T.int64()
        with R.dataflow():
            a: R.Tensor((2, 4, n), dtype="float32") = R.permute_dims(x, axes=[0, 2, 1])
            c: R.Tensor((n, 4, 2), dtype="float32") = R.permute_dims(x, axes=[1, 2, 0])
            e: R.Tensor((2, n, 4), dtype="float32") = R.exp(x)
            R.output(a, c, e)
        return (a, c, y, e)
