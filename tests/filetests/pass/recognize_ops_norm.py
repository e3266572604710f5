# test: pass
# run: recognize_ops
# Layer normalisation and root-mean-square normalisation, with a quotient or a product, with scale and offset or without.

@I.ir_module
class Module:
    @R.function
    def main(x: R.Tensor(("n", 3, 4), "float32"), g: R.Tensor((4,), "float32"), b: R.Tensor((1, 4), "float32"), w: R.Tensor((3, 1), "float32")):
        n = T.int64()
        with R.dataflow():
            a = R.mean(x, axis=[2], keepdims=True)
            a1 = R.subtract(x, a)
            a2 = R.power(a1, R.const(2.0, "float32"))
            a3 = R.mean(a2, axis=[-1], keepdims=True)
            a4 = R.add(a3, R.const(0.001, "float32"))
            a5 = R.sqrt(a4)
            a6 = R.divide(a1, a5)
            a7 = R.multiply(a6, g)
            a8 = R.add(a7, b)
            c = R.mean(a8, axis=[1], keepdims=True)
            c1 = R.subtract(a8, c)
            c2 = R.subtract(a8, c)
            c3 = R.multiply(c2, c2)
            c4 = R.mean(c3, axis=[1], keepdims=True)
            c5 = R.add(R.const(0.001, "float32"), c4)
            c6 = R.rsqrt(c5)
            c7 = R.multiply(c6, c1)
            c8 = R.multiply(w, c7)
            d = R.mean(c8, axis=[1, 2], keepdims=True)
            d1 = R.subtract(c8, d)
            d2 = R.multiply(d1, d1)
            d3 = R.mean(d2, axis=[1, 2], keepdims=True)
            d4 = R.add(d3, R.const(0.001, "float32"))
            d5 = R.divide(R.const(1.0, "float32"), R.sqrt(d4))
            d6 = R.multiply(d1, d5)
            e = R.multiply(d6, d6)
            e1 = R.mean(e, axis=[2], keepdims=True)
            e2 = R.add(e1, R.const(0.001, "float32"))
            e3 = R.power(e2, R.const(-0.5, "float32"))
            e4 = R.multiply(d6, e3)
            e5 = R.multiply(g, e4)
            f = R.power(e5, R.const(2.0, "float32"))
            f1 = R.mean(f, axis=[2], keepdims=True)
            f2 = R.add(f1, R.const(0.001, "float32"))
            f3 = R.sqrt(f2)
            f4 = R.divide(e5, f3)
            R.output(f4)
        return f4
# expect:
# from tvm.script import ir as I
# from tvm.script import tir as T
# from tvm.script import relax as R

@I.ir_module
class Module:
    @R.function
    def main(x: R.Tensor(("n", 3, 4), dtype="float32"), g: R.Tensor((4,), dtype="float32"), b: R.Tensor((1, 4), dtype="float32"), w: R.Tensor((3, 1), dtype="float32")) -> R.Tensor(("n", 3, 4), dtype="float32"):
        n = T.int64()
        with R.dataflow():
            lv: R.Tensor((4,), dtype="float32") = R.reshape(b, R.shape([4]))
            a8: R.Tensor((n, 3, 4), dtype="float32") = R.nn.layer_norm(x, g, lv, axes=[2], epsilon=0.0010000000474974513, center=True, scale=True)
            lv_1: R.Tensor((3,), dtype="float32") = R.reshape(w, R.shape([3]))
            lv_2: R.Tensor((3,), dtype="float32") = R.ones(R.shape([3]), dtype=R.dtype("float32"))
            c8: R.Tensor((n, 3, 4), dtype="float32") = R.nn.layer_norm(a8, lv_1, lv_2, axes=[1], epsilon=0.0010000000474974513, center=False, scale=True)
            lv_3: R.Tensor((3, 4), dtype="float32") = R.ones(R.shape([3, 4]), dtype=R.dtype("float32"))
            lv_4: R.Tensor((3, 4), dtype="float32") = R.ones(R.shape([3, 4]), dtype=R.dtype("float32"))
            d6: R.Tensor((n, 3, 4), dtype="float32") = R.nn.layer_norm(c8, lv_3, lv_4, axes=[1, 2], epsilon=0.0010000000474974513, center=False, scale=False)
            e5: R.Tensor((n, 3, 4), dtype="float32") = R.nn.rms_norm(d6, g, axes=[2], epsilon=0.0010000000474974513)
            lv_5: R.Tensor((4,), dtype="float32") = R.ones(R.shape([4]), dtype=R.dtype("float32"))
            f4: R.Tensor((n, 3, 4), dtype="float32") = R.nn.rms_norm(e5, lv_5, axes=[2], epsilon=0.0010000000474974513)
            R.output(f4)
        return f4
