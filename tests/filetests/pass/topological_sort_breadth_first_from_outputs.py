# test: pass
# run: topological_sort {"order": "breadth-first", "direction": "from-outputs"}
# Two chains and a value that nobody uses.

@I.ir_module
class Module:
    @R.function
    def main(x: R.Tensor((4,), "float32"), y: R.Tensor((4,), "float32")) -> R.Tensor((4,), "float32"):
        with R.dataflow():
            a = R.exp(x)
            b = R.exp(y)
            c = R.tanh(a)
            unused = R.abs(x)
            d = R.tanh(b)
            e = R.sqrt(c)
            f = R.add(e, d)
            R.output(f)
        return f
# expect:
# from tvm.script import ir as I
# from tvm.script import relax as R

@I.ir_module
class Module:
    @R.function
    def main(x: R.Tensor((4,), dtype="float32"), y: R.Tensor((4,), dtype="float32")) -> R.Tensor((4,), dtype="float32"):
        with R.dataflow():
            a: R.Tensor((4,), dtype="float32") = R.exp(x)
            b: R.Tensor((4,), dtype="float32") = R.exp(y)
            c: R.Tensor((4,), dtype="float32") = R.tanh(a)
            d: R.Tensor((4,), dtype="float32") = R.tanh(b)
            e: R.Tensor((4,), dtype="float32") = R.sqrt(c)
            f: R.Tensor((4,), dtype="float32") = R.add(e, d)
            unused: R.Tensor((4,), dtype="float32") = R.abs(x)
            R.output(f)
        return f
