# test: pass
# run: decompose_ops_for_training {"func_name": "main"}
# Mean and variance of the batch are taken, and the running ones move towards them. Another function stays.

@I.ir_module
class Module:
    @R.function
    def main(
        x: R.Tensor((2, 3, 6), "float16"),
        v: R.Tensor((3,), "float16"),
        w: R.Tensor((6,), "float16"),
    ):
        with R.dataflow():
            y = R.nn.batch_norm(x, v, v, v, v, axis=1)
            z = y[0]
            a = R.nn.layer_norm(z, w, w, axes=[-1])
            R.output(y, a)
        return (y, a)

    @R.function
    def other(x: R.Tensor((2, 6), "float16"), w: R.Tensor((6,), "float16")):
        with R.dataflow():
            a = R.nn.layer_norm(x, w, w, axes=[-1])
            R.output(a)
        return a
# expect:
# from tvm.script import ir as I
# from tvm.script import relax as R

@I.ir_module
class Module:
    @R.function
    def main(x: R.Tensor((2, 3, 6), dtype="float16"), v: R.Tensor((3,), dtype="float16"), w: R.Tensor((6,), dtype="float16")) -> R.Tuple(R.Tuple(R.Tensor((2, 3, 6), dtype="float16"), R.Tensor((3,), dtype="float16"), R.Tensor((3,), dtype="float16")), R.Tensor((2, 3, 6), dtype="float16")):
        with R.dataflow():
            lv: R.Tensor((3,), dtype="float16") = R.mean(x, axis=[0, 2], keepdims=False)
            lv_1: R.Tensor((3,), dtype="float16") = R.variance(x, axis=[0, 2], keepdims=False)
            lv_2: R.Tensor((1, 3, 1), dtype="float16") = R.expand_dims(lv, axis=[0, 2])
            lv_3: R.Tensor((2, 3, 6), dtype="float16") = R.subtract(x, lv_2)
            lv_4: R.Tensor((1, 3, 1), dtype="float16") = R.expand_dims(lv_1, axis=[0, 2])
            lv_5: R.Tensor((1, 3, 1), dtype="float16") = R.add(lv_4, R.const(1.0013580322265625e-5, "float16"))
            lv_6: R.Tensor((1, 3, 1), dtype="float16") = R.sqrt(lv_5)
            lv_7: R.Tensor((2, 3, 6), dtype="float16") = R.divide(lv_3, lv_6)
            lv_8: R.Tensor((1, 3, 1), dtype="float16") = R.expand_dims(v, axis=[0, 2])
            lv_9: R.Tensor((2, 3, 6), dtype="float16") = R.multiply(lv_7, lv_8)
            lv_10: R.Tensor((1, 3, 1), dtype="float16") = R.expand_dims(v, axis=[0, 2])
            lv_11: R.Tensor((2, 3, 6), dtype="float16") = R.add(lv_9, lv_10)
            lv_12: R.Tuple(R.Tensor((2, 3, 6), dtype="float16"), R.Tensor((3,), dtype="float16"), R.Tensor((3,), dtype="float16")) = (lv_11, lv, lv_1)
            lv_13: R.Tensor((2, 3, 6), dtype="float16") = lv_12[0]
            lv_14: R.Tensor((3,), dtype="float16") = R.multiply(R.const(0.89990234375, "float16"), v)
            lv_15: R.Tensor((3,), dtype="float16") = R.multiply(R.const(0.0999755859375, "float16"), lv)
            lv_16: R.Tensor((3,), dtype="float16") = R.add(lv_14, lv_15)
            lv_17: R.Tensor((3,), dtype="float16") = R.multiply(R.const(0.89990234375, "float16"), v)
            lv_18: R.Tensor((3,), dtype="float16") = R.multiply(R.const(0.0999755859375, "float16"), lv_1)
            lv_19: R.Tensor((3,), dtype="float16") = R.add(lv_17, lv_18)
            y: R.Tuple(R.Tensor((2, 3, 6), dtype="float16"), R.Tensor((3,), dtype="float16"), R.Tensor((3,), dtype="float16")) = (lv_13, lv_16, lv_19)
            z: R.Tensor((2, 3, 6), dtype="float16") = y[0]
            lv_20: R.Tensor((2, 3, 1), dtype="float16") = R.mean(z, axis=[-1], keepdims=True)
            lv_21: R.Tensor((2, 3, 6), dtype="float16") = R.subtract(z, lv_20)
            lv_22: R.Tensor((2, 3, 1), dtype="float16") = R.variance(z, axis=[-1], keepdims=True)
            lv_23: R.Tensor((2, 3, 1), dtype="float16") = R.add(lv_22, R.const(1.0013580322265625e-5, "float16"))
            lv_24: R.Tensor((2, 3, 1), dtype="float16") = R.sqrt(lv_23)
            lv_25: R.Tensor((2, 3, 6), dtype="float16") = R.divide(lv_21, lv_24)
            lv_26: R.Tensor((2, 3, 6), dtype="float16") = R.multiply(lv_25, w)
            lv_27: R.Tensor((2, 3, 6), dtype="float16") = R.add(lv_26, w)
            R.output(y, lv_27)
        return (y, lv_27)

    @R.function
    def other(x: R.Tensor((2, 6), dtype="float16"), w: R.Tensor((6,), dtype="float16")) -> R.Tensor((2, 6), dtype="float16"):
        with R.dataflow():
            a: R.Tensor((2, 6), dtype="float16") = R.nn.layer_norm(x, w, w, axes=[-1], epsilon=1e-5, center=True, scale=True)
            R.output(a)
        return a
