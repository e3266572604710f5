# test: pass
# run: remove_redundant_reshape
# Of reshapes in a row the last one is left, or none: also where the value leaves the block, and where extents are symbolic.

@I.ir_module
class Module:
    @R.function
    def main(x: R.Tensor((4, "n"), "float32")):
        n = T.int64()
        with R.dataflow():
            a = R.reshape(x, (4 * n,))
            b = R.reshape(a, (2, 2 * n))
            c = R.reshape(b, (4, n))
            d = R.exp(c)
            e = R.reshape(d, (4, n))
            R.output(b, c, e)
        f = R.reshape(b, (n, 4))
        return (c, e, f)
# expect:
# from tvm.script import ir as I
# from tvm.script import tir as T
# from tvm.script import relax as R

@I.ir_module
class Module:
    @R.function
    def main(x: R.Tensor((4, "n"), dtype="float32")) -> R.Tuple(R.Tensor((4, "n"), dtype="float32"), R.Tensor((4, "n"), dtype="float32"), R.Tensor(("n", 4), dtype="float32")):
        n = T.int64()
        with R.dataflow():
            d: R.Tensor((4, n), dtype="float32") = R.exp(x)
            R.output(d)
        f: R.Tensor((n, 4), dtype="float32") = R.reshape(x, R.shape([n, 4]))
        return (x, d, f)
