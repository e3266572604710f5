# test: pass
# run: canonicalize_bindings
# Users of other names, of elements of written tuples and of constants use the value itself, in branches too; a dataflow block
# outputs only what is used outside, under the name of the output that the value replaces.

@I.ir_module
class Module:
    @R.function
    def main(x: R.Tensor((4,), "float32"), c: R.Tensor((), "bool")) -> R.Tensor((4,), "float32"):
        with R.dataflow():
            y = x
            a = R.exp(y)
            t = (a, y)
            b = t[1]
            d = R.add(b, R.const(1.0, "float32"))
            unused = R.tanh(d)
            out = d
            R.output(a, unused, out)
        one = R.const(1.0, "float32")
        if c:
            other = out
            p = R.add(other, one)
            r = p
        else:
            r = out
        return r
# expect:
# from tvm.script import ir as I
# from tvm.script import relax as R

@I.ir_module
class Module:
    @R.function
    def main(x: R.Tensor((4,), dtype="float32"), c: R.Tensor((), dtype="bool")) -> R.Tensor((4,), dtype="float32"):
        with R.dataflow():
            a: R.Tensor((4,), dtype="float32") = R.exp(x)
            t: R.Tuple(R.Tensor((4,), dtype="float32"), R.Tensor((4,), dtype="float32")) = (a, x)
            out: R.Tensor((4,), dtype="float32") = R.add(x, R.const(1.0, "float32"))
            unused: R.Tensor((4,), dtype="float32") = R.tanh(out)
            R.output(out)
        one: R.Tensor((), dtype="float32") = R.const(1.0, "float32")
        if c:
            p: R.Tensor((4,), dtype="float32") = R.add(out, R.const(1.0, "float32"))
            r: R.Tensor((4,), dtype="float32") = p
        else:
            r: R.Tensor((4,), dtype="float32") = out
        return r
