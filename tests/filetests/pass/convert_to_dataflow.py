# test: pass
# run: convert_to_dataflow
# Runs without side effects and branches become blocks; a run of one does not, a block that is there grows.

@I.ir_module
class Module:
    @R.function(pure=False)
    def main(x: R.Tensor((4,), "float32"), c: R.Tensor((), "bool")) -> R.Tensor((4,), "float32"):
        a = R.exp(x)
        b = R.tanh(a)
        p = R.call_packed("print", b, sinfo_args=R.Tuple())
        d = R.exp(b)
        q = R.call_packed("print", d, sinfo_args=R.Tuple())
        with R.dataflow():
            e = R.tanh(d)
            R.output(e)
        f = R.exp(e)
        if c:
            g = R.exp(f)
            h = R.tanh(g)
            i = R.exp(h)
            r = i
        else:
            r = f
        return r
# expect:
# from tvm.script import ir as I
# from tvm.script import relax as R

@I.ir_module
class Module:
    @R.function(pure=False)
    def main(x: R.Tensor((4,), dtype="float32"), c: R.Tensor((), dtype="bool")) -> R.Tensor((4,), dtype="float32"):
        with R.dataflow():
            a: R.Tensor((4,), dtype="float32") = R.exp(x)
            b: R.Tensor((4,), dtype="float32") = R.tanh(a)
            R.output(b)
        p: R.Tuple() = R.call_packed("print", b, sinfo_args=(R.Tuple(),))
        d: R.Tensor((4,), dtype="float32") = R.exp(b)
        q: R.Tuple() = R.call_packed("print", d, sinfo_args=(R.Tuple(),))
        with R.dataflow():
            e: R.Tensor((4,), dtype="float32") = R.tanh(d)
            f: R.Tensor((4,), dtype="float32") = R.exp(e)
            R.output(f)
        if c:
            with R.dataflow():
                g: R.Tensor((4,), dtype="float32") = R.exp(f)
                h: R.Tensor((4,), dtype="float32") = R.tanh(g)
                i: R.Tensor((4,), dtype="float32") = R.exp(h)
                R.output(i)
            r: R.Tensor((4,), dtype="float32") = i
        else:
            r: R.Tensor((4,), dtype="float32") = f
        return r
