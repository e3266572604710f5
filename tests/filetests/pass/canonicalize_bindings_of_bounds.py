# test: pass
# run: canonicalize_bindings
# A check that `v` is `min(v, 9)` says that `v` is at most 9, not what it is: both checks stay.

@I.ir_module
class Module:
    @R.function
    def main(x: R.Tensor(("T.min(v, 9)",), "float32"), y: R.Tensor(("T.min(v, 9)",), "int64"), s: R.Shape(["v"])):
        v = T.int64()
        with R.dataflow():
            a = R.exp(x)
            b = R.match_cast(a, R.Tensor((v,), "float32"))
            c = R.add(y, y)
            d = R.match_cast(c, R.Tensor((v,), "int64"))
            R.output(b, d)
        return (b, d)
# expect:
# from tvm.script import ir as I
# from tvm.script import tir as T
# from tvm.script import relax as R

@I.ir_module
class Module:
    @R.function
    def main(x: R.Tensor(("T.min(v, 9)",), dtype="float32"), y: R.Tensor(("T.min(v, 9)",), dtype="int64"), s: R.Shape(["v"])) -> R.Tuple(R.Tensor(("v",), dtype="float32"), R.Tensor(("v",), dtype="int64")):
        v = T.int64()
        with R.dataflow():
            a: R.Tensor((T.min(v, 9),), dtype="float32") = R.exp(x)
            b: R.Tensor((v,), dtype="float32") = R.match_cast(a, R.Tensor((v,), dtype="float32"))
            c: R.Tensor((T.min(v, 9),), dtype="int64") = R.add(y, y)
            d: R.Tensor((v,), dtype="int64") = R.match_cast(c, R.Tensor((v,), dtype="int64"))
            R.output(b, d)
        return (b, d)
