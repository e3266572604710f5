# test: pass
# run: eliminate_common_subexpr {"call_only": true}
# Elements of tuples are bound again, calls are not.

@I.ir_module
class Module:
    @R.function
    def main(t: R.Tuple(R.Tensor((4,), "float32"), R.Tensor((4,), "float32"))) -> R.Tensor((4,), "float32"):
        a = t[0]
        b = t[0]
        c = R.exp(a)
        d = R.exp(a)
        e = R.add(b, R.add(c, d))
        return e
# expect:
# from tvm.script import ir as I
# from tvm.script import relax as R

@I.ir_module
class Module:
    @R.function
    def main(t: R.Tuple(R.Tensor((4,), dtype="float32"), R.Tensor((4,), dtype="float32"))) -> R.Tensor((4,), dtype="float32"):
        a: R.Tensor((4,), dtype="float32") = t[0]
        b: R.Tensor((4,), dtype="float32") = t[0]
        c: R.Tensor((4,), dtype="float32") = R.exp(a)
        d: R.Tensor((4,), dtype="float32") = c
        lv: R.Tensor((4,), dtype="float32") = R.add(c, c)
        e: R.Tensor((4,), dtype="float32") = R.add(b, lv)
        return e
