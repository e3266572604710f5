# test: pass
# run: simplify_batchnorm {"parameters": true}
# A normalisation of a convolution with a bias goes into both, and so does one after it.

@I.ir_module
class Module:
    @R.function
    def main(x: R.Tensor((1, 2, 3), "float32"), w: R.Tensor((2, 2, 1), "float32"), o: R.Tensor((2,), "float32"), g: R.Tensor((2,), "float32"), b: R.Tensor((2,), "float32"), m: R.Tensor((2,), "float32"), v: R.Tensor((2,), "float32")):
        R.func_attr({"num_input": 1})
        with R.dataflow():
            c = R.nn.conv1d(x, w)
            a = R.add(c, R.reshape(o, R.shape([2, 1])))
            n = R.nn.batch_norm(a, g, b, m, v, axis=1, training=False)
            y = n[0]
            p = R.nn.batch_norm(y, g, b, m, v, axis=1, training=False)
            z = p[0]
            R.output(z)
        return z
# expect:
# from tvm.script import ir as I
# from tvm.script import relax as R

@I.ir_module
class Module:
    @R.function
    def main(x: R.Tensor((1, 2, 3), dtype="float32"), w: R.Tensor((2, 2, 1), dtype="float32"), o: R.Tensor((2,), dtype="float32"), g: R.Tensor((2,), dtype="float32"), b: R.Tensor((2,), dtype="float32"), m: R.Tensor((2,), dtype="float32"), v: R.Tensor((2,), dtype="float32")) -> R.Tensor((1, 2, 3), dtype="float32"):
        R.func_attr({"num_input": 1})
        with R.dataflow():
            lv: R.Tensor((2,), dtype="float32") = R.add(v, R.prim_value(T.float32(1e-5)))
            lv_1: R.Tensor((2,), dtype="float32") = R.sqrt(lv)
            lv_2: R.Tensor((2,), dtype="float32") = R.divide(g, lv_1)
            lv_3: R.Tensor((2, 1, 1), dtype="float32") = R.reshape(lv_2, R.shape([2, 1, 1]))
            lv_4: R.Tensor((2, 2, 1), dtype="float32") = R.multiply(w, lv_3)
            lv_5: R.Tensor((2,), dtype="float32") = R.subtract(m, o)
            lv_6: R.Tensor((2,), dtype="float32") = R.multiply(lv_5, lv_2)
            lv_7: R.Tensor((2,), dtype="float32") = R.subtract(b, lv_6)
            lv_8: R.Tensor((2, 2, 1), dtype="float32") = R.multiply(lv_4, lv_3)
            lv_9: R.Tensor((1, 2, 3), dtype="float32") = R.nn.conv1d(x, lv_8, strides=[1], padding=[0, 0], dilation=[1], groups=1, data_layout="NCW", kernel_layout="OIW", out_layout="NCW")
            lv_10: R.Tensor((2,), dtype="float32") = R.subtract(m, lv_7)
            lv_11: R.Tensor((2,), dtype="float32") = R.multiply(lv_10, lv_2)
            lv_12: R.Tensor((2,), dtype="float32") = R.subtract(b, lv_11)
            lv_13: R.Tensor((1, 2, 1), dtype="float32") = R.reshape(lv_12, R.shape([1, 2, 1]))
            z: R.Tensor((1, 2, 3), dtype="float32") = R.add(lv_9, lv_13)
            R.output(z)
        return z
