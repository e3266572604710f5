# test: pass
# run: simplify_batchnorm {"parameters": true}
# A normalisation with running statistics goes into the weight of a convolution, if that is a parameter, too; another becomes
# arithmetic. One that takes the statistics of the batch stays.

@I.ir_module
class Module:
    @R.function
    def main(x: R.Tensor((1, 2, 3, 3), "float32"), w: R.Tensor((2, 2, 1, 1), "float32"), g: R.Tensor((2,), "float32"), b: R.Tensor((2,), "float32"), m: R.Tensor((2,), "float32"), v: R.Tensor((2,), "float32")):
        R.func_attr({"num_input": 1})
        with R.dataflow():
            a = R.nn.conv2d(x, w)
            n = R.nn.batch_norm(a, g, b, m, v, axis=1, training=False)
            y = n[0]
            q = R.nn.relu(y)
            o = R.nn.batch_norm(q, g, b, m, v, axis=1, training=False)
            z = o[0]
            c = R.nn.conv2d(z, w)
            p = R.nn.batch_norm(c, g, b, m, v, axis=1, training=True)
            r = p[0]
            R.output(r)
        return r
# expect:
# from tvm.script import ir as I
# from tvm.script import relax as R

@I.ir_module
class Module:
    @R.function
    def main(x: R.Tensor((1, 2, 3, 3), dtype="float32"), w: R.Tensor((2, 2, 1, 1), dtype="float32"), g: R.Tensor((2,), dtype="float32"), b: R.Tensor((2,), dtype="float32"), m: R.Tensor((2,), dtype="float32"), v: R.Tensor((2,), dtype="float32")) -> R.Tensor((1, 2, 3, 3), dtype="float32"):
        R.func_attr({"num_input": 1})
        with R.dataflow():
            lv: R.Tensor((2,), dtype="float32") = R.add(v, R.prim_value(T.float32(1e-5)))
            lv_1: R.Tensor((2,), dtype="float32") = R.sqrt(lv)
            lv_2: R.Tensor((2,), dtype="float32") = R.divide(g, lv_1)
            lv_3: R.Tensor((2, 1, 1, 1), dtype="float32") = R.reshape(lv_2, R.shape([2, 1, 1, 1]))
            lv_4: R.Tensor((2, 2, 1, 1), dtype="float32") = R.multiply(w, lv_3)
            lv_5: R.Tensor((1, 2, 3, 3), dtype="float32") = R.nn.conv2d(x, lv_4, strides=[1, 1], padding=[0, 0, 0, 0], dilation=[1, 1], groups=1, data_layout="NCHW", kernel_layout="OIHW", out_layout="NCHW")
            lv_6: R.Tensor((2,), dtype="float32") = R.multiply(m, lv_2)
            lv_7: R.Tensor((2,), dtype="float32") = R.subtract(b, lv_6)
            lv_8: R.Tensor((1, 2, 1, 1), dtype="float32") = R.reshape(lv_7, R.shape([1, 2, 1, 1]))
            y: R.Tensor((1, 2, 3, 3), dtype="float32") = R.add(lv_5, lv_8)
            q: R.Tensor((1, 2, 3, 3), dtype="float32") = R.nn.relu(y)
            lv_9: R.Tensor((1, 2, 1, 1), dtype="float32") = R.expand_dims(m, axis=[0, 2, 3])
            lv_10: R.Tensor((1, 2, 3, 3), dtype="float32") = R.subtract(q, lv_9)
            lv_11: R.Tensor((1, 2, 1, 1), dtype="float32") = R.expand_dims(v, axis=[0, 2, 3])
            lv_12: R.Tensor((1, 2, 1, 1), dtype="float32") = R.add(lv_11, R.const(1e-5, "float32"))
            lv_13: R.Tensor((1, 2, 1, 1), dtype="float32") = R.sqrt(lv_12)
            lv_14: R.Tensor((1, 2, 3, 3), dtype="float32") = R.divide(lv_10, lv_13)
            lv_15: R.Tensor((1, 2, 1, 1), dtype="float32") = R.expand_dims(g, axis=[0, 2, 3])
            lv_16: R.Tensor((1, 2, 3, 3), dtype="float32") = R.multiply(lv_14, lv_15)
            lv_17: R.Tensor((1, 2, 1, 1), dtype="float32") = R.expand_dims(b, axis=[0, 2, 3])
            lv_18: R.Tensor((1, 2, 3, 3), dtype="float32") = R.add(lv_16, lv_17)
            o: R.Tuple(R.Tensor((1, 2, 3, 3), dtype="float32"), R.Tensor((2,), dtype="float32"), R.Tensor((2,), dtype="float32")) = (lv_18, m, v)
            z: R.Tensor((1, 2, 3, 3), dtype="float32") = o[0]
            c: R.Tensor((1, 2, 3, 3), dtype="float32") = R.nn.conv2d(z, w, strides=[1, 1], padding=[0, 0, 0, 0], dilation=[1, 1], groups=1, data_layout="NCHW", kernel_layout="OIHW", out_layout="NCHW")
            p: R.Tuple(R.Tensor((1, 2, 3, 3), dtype="float32"), R.Tensor((2,), dtype="float32"), R.Tensor((2,), dtype="float32")) = R.nn.batch_norm(c, g, b, m, v, axis=1, epsilon=1e-5, center=True, scale=True, momentum=0.1, training=True)
            r: R.Tensor((1, 2, 3, 3), dtype="float32") = p[0]
            R.output(r)
        return r
