# test: pass
# run: recognize_ops
# Gelu by the error function and by a hyperbolic tangent, with factors and operands in any order, and small powers.

@I.ir_module
class Module:
    @R.function
    def main(x: R.Tensor(("n", 4), "float32")):
        n = T.int64()
        with R.dataflow():
            a = R.divide(x, R.const(1.4142135, "float32"))
            a1 = R.erf(a)
            a2 = R.add(a1, R.const(1.0, "float32"))
            a3 = R.multiply(x, a2)
            a4 = R.multiply(a3, R.const(0.5, "float32"))
            b = R.multiply(R.const(0.70710677, "float32"), a4)
            b1 = R.erf(b)
            b2 = R.add(R.const(1.0, "float32"), b1)
            b3 = R.multiply(R.const(0.5, "float32"), a4)
            b4 = R.multiply(b2, b3)
            c = R.multiply(b4, R.const(0.70710677, "float32"))
            c1 = R.erf(c)
            c2 = R.add(c1, R.const(1.0, "float32"))
            c3 = R.multiply(b4, c2)
            c4 = R.divide(c3, R.const(2.0, "float32"))
            d = R.power(c4, R.const(3.0, "float32"))
            d1 = R.multiply(d, R.const(0.044715, "float32"))
            d2 = R.add(d1, c4)
            d3 = R.multiply(d2, R.const(0.7978846, "float32"))
            d4 = R.tanh(d3)
            d5 = R.add(d4, R.const(1.0, "float32"))
            d6 = R.multiply(d5, R.const(0.5, "float32"))
            d7 = R.multiply(c4, d6)
            e = R.multiply(d7, d7)
            e1 = R.multiply(e, R.const(0.044715, "float32"))
            e2 = R.add(R.const(1.0, "float32"), e1)
            e3 = R.multiply(d7, R.const(0.7978846, "float32"))
            e4 = R.multiply(e3, e2)
            e5 = R.tanh(e4)
            e6 = R.add(e5, R.const(1.0, "float32"))
            e7 = R.multiply(R.multiply(d7, R.const(0.5, "float32")), e6)
            f = R.power(e7, R.const(2.0, "float32"))
            g = R.power(f, R.const(3.0, "float32"))
            h = R.power(g, R.const(0.5, "float32"))
            R.output(h)
        return h
# expect:
# from tvm.script import ir as I
# from tvm.script import tir as T
# from tvm.script import relax as R

@I.ir_module
class Module:
    @R.function
    def main(x: R.Tensor(("n", 4), dtype="float32")) -> R.Tensor(("n", 4), dtype="float32"):
        n = T.int64()
        with R.dataflow():
            a4: R.Tensor((n, 4), dtype="float32") = R.nn.gelu(x)
            b4: R.Tensor((n, 4), dtype="float32") = R.nn.gelu(a4)
            c4: R.Tensor((n, 4), dtype="float32") = R.nn.gelu(b4)
            d7: R.Tensor((n, 4), dtype="float32") = R.nn.gelu_tanh(c4)
            e7: R.Tensor((n, 4), dtype="float32") = R.nn.gelu_tanh(d7)
            f: R.Tensor((n, 4), dtype="float32") = R.multiply(e7, e7)
            lv: R.Tensor((n, 4), dtype="float32") = R.multiply(f, f)
            g: R.Tensor((n, 4), dtype="float32") = R.multiply(lv, f)
            h: R.Tensor((n, 4), dtype="float32") = R.power(g, R.const(0.5, "float32"))
            R.output(h)
        return h
