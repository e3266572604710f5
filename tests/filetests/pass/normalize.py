# test: pass
# run: normalize
# Blocks of one kind become one; a value without content is written as it is.

@I.ir_module
class Module:
    @R.function(pure=False)
    def main(x: R.Tensor((4,), "float32")):
        with R.dataflow():
            a = R.exp(x)
            R.output(a)
        with R.dataflow():
            b = R.tanh(a)
            R.output(b)
        p: R.Tuple() = R.call_packed("print", b, sinfo_args=R.Tuple())
        return p
# expect:
# from tvm.script import ir as I
# from tvm.script import relax as R

@I.ir_module
class Module:
    @R.function(pure=False)
    def main(x: R.Tensor((4,), dtype="float32")) -> R.Tuple():
        with R.dataflow():
            a: R.Tensor((4,), dtype="float32") = R.exp(x)
            b: R.Tensor((4,), dtype="float32") = R.tanh(a)
            R.output(a, b)
        p: R.Tuple() = R.call_packed("print", b, sinfo_args=(R.Tuple(),))
        return R.tuple()
