# test: pass
# run: canonicalize_bindings
# A tuple of all elements of a parameter is the parameter; one of some of them is not.

@I.ir_module
class Module:
    @R.function
    def main(t: R.Tuple(R.Tensor((4,), "float32"), R.Tensor((4,), "float32"))):
        a = t[0]
        b = t[1]
        whole = (a, b)
        swapped = (b, a)
        return (whole, swapped)
# expect:
# from tvm.script import ir as I
# from tvm.script import relax as R

@I.ir_module
class Module:
    @R.function
    def main(t: R.Tuple(R.Tensor((4,), dtype="float32"), R.Tensor((4,), dtype="float32"))) -> R.Tuple(R.Tuple(R.Tensor((4,), dtype="float32"), R.Tensor((4,), dtype="float32")), R.Tuple(R.Tensor((4,), dtype="float32"), R.Tensor((4,), dtype="float32"))):
        a: R.Tensor((4,), dtype="float32") = t[0]
        b: R.Tensor((4,), dtype="float32") = t[1]
        swapped: R.Tuple(R.Tensor((4,), dtype="float32"), R.Tensor((4,), dtype="float32")) = (b, a)
        return (t, swapped)
