# test: pass
# run: decompose_ops_for_inference
# Batch normalisation becomes arithmetic with the running mean and variance, without a scale where the call says so.

@I.ir_module
class Module:
    @R.function
    def main(x: R.Tensor((1, 6, 3), "float32"), v: R.Tensor((3,), "float32")):
        with R.dataflow():
            y = R.nn.batch_norm(x, v, v, v, v, axis=-1, scale=False, training=False)
            z = y[0]
            a = R.nn.layer_norm(z, v, v, axes=[-1])
            R.output(a)
        return a
# expect:
# from tvm.script import ir as I
# from tvm.script import relax as R

@I.ir_module
class Module:
    @R.function
    def main(x: R.Tensor((1, 6, 3), dtype="float32"), v: R.Tensor((3,), dtype="float32")) -> R.Tensor((1, 6, 3), dtype="float32"):
        with R.dataflow():
            lv: R.Tensor((1, 1, 3), dtype="float32") = R.expand_dims(v, axis=[0, 1])
            lv_1: R.Tensor((1, 6, 3), dtype="float32") = R.subtract(x, lv)
            lv_2: R.Tensor((1, 1, 3), dtype="float32") = R.expand_dims(v, axis=[0, 1])
            lv_3: R.Tensor((1, 1, 3), dtype="float32") = R.add(lv_2, R.const(1e-5, "float32"))
            lv_4: R.Tensor((1, 1, 3), dtype="float32") = R.sqrt(lv_3)
            lv_5: R.Tensor((1, 6, 3), dtype="float32") = R.divide(lv_1, lv_4)
            lv_6: R.Tensor((1, 1, 3), dtype="float32") = R.expand_dims(v, axis=[0, 1])
            lv_7: R.Tensor((1, 6, 3), dtype="float32") = R.add(lv_5, lv_6)
            y: R.Tuple(R.Tensor((1, 6, 3), dtype="float32"), R.Tensor((3,), dtype="float32"), R.Tensor((3,), dtype="float32")) = (lv_7, v, v)
            z: R.Tensor((1, 6, 3), dtype="float32") = y[0]
            a: R.Tensor((1, 6, 3), dtype="float32") = R.nn.layer_norm(z, v, v, axes=[-1], epsilon=1e-5, center=True, scale=True)
            R.output(a)
        return a
