# test: print
# Extents that are joined are sums of like terms.

@I.ir_module
class Module:
    @R.function
    def main(x: R.Tensor(("n", 2), "float32"), y: R.Tensor(("m", 2), "float32")):
        c0 = R.concat((x, x))
        c1 = R.concat((c0, y, c0))
        return R.concat((c1, R.concat((y, c1))))
# expect:
# from tvm.script import ir as I
# from tvm.script import tir as T
# from tvm.script import relax as R

@I.ir_module
class Module:
    @R.function
    def main(x: R.Tensor(("n", 2), dtype="float32"), y: R.Tensor(("m", 2), dtype="float32")) -> R.Tensor(("n * 8 + m * 3", 2), dtype="float32"):
        m = T.int64()
        n = T.int64()
        c0: R.Tensor((n * 2, 2), dtype="float32") = R.concat((x, x), axis=0)
        c1: R.Tensor((n * 4 + m, 2), dtype="float32") = R.concat((c0, y, c0), axis=0)
        lv: R.Tensor((n * 4 + m * 2, 2), dtype="float32") = R.concat((y, c1), axis=0)
        gv: R.Tensor((n * 8 + m * 3, 2), dtype="float32") = R.concat((c1, lv), axis=0)
        return gv
