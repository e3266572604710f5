# test: pass
# run: convert_layout {"desired_layouts": {"relax.nn.conv2d": ["NHWC", "OHWI"]}}
# Operators after the convolution work in its layout, with their axes moved; where layouts meet, and at outputs, dimensions are
# permuted. A bias is permuted too, a vector of channels is not.

@I.ir_module
class Module:
    @R.function
    def main(
        x: R.Tensor((1, 3, 8, 8), "float32"),
        w: R.Tensor((4, 3, 3, 3), "float32"),
        bias: R.Tensor((1, 4, 1, 1), "float32"),
        scale: R.Tensor((4,), "float32"),
        shift: R.Tensor((4,), "float32"),
    ):
        with R.dataflow():
            a = R.nn.conv2d(x, w, padding=1)
            b = R.add(a, bias)
            c = R.nn.batch_norm(b, scale, shift, shift, scale, axis=1)
            d = c[0]
            e = R.nn.max_pool2d(d, pool_size=2, strides=2)
            f = R.split(e, 2, axis=1)
            g = f[0]
            h = f[1]
            i = R.concat((h, g), axis=-3)
            j = R.nn.softmax(i, axis=1)
            k = R.expand_dims(j, axis=[2])
            l = R.squeeze(k)
            m = R.strided_slice(i, [1], [0], [2])
            n = R.permute_dims(i, axes=[0, 2, 1, 3])
            o = R.mean(i, axis=[2, 3])
            p = R.sum(i, axis=[1], keepdims=True)
            q = R.nn.prelu(i, scale, axis=1)
            r = R.flip(q, axis=-1)
            s = R.cumsum(r, axis=2)
            R.output(l, m, n, o, p, s)
        return (l, m, n, o, p, s)
# expect:
# from tvm.script import ir as I
# from tvm.script import relax as R

@I.ir_module
class Module:
    @R.function
    def main(x: R.Tensor((1, 3, 8, 8), dtype="float32"), w: R.Tensor((4, 3, 3, 3), dtype="float32"), bias: R.Tensor((1, 4, 1, 1), dtype="float32"), scale: R.Tensor((4,), dtype="float32"), shift: R.Tensor((4,), dtype="float32")) -> R.Tuple(R.Tensor((4, 4, 4), dtype="float32"), R.Tensor((1, 2, 4, 4), dtype="float32"), R.Tensor((1, 4, 4, 4), dtype="float32"), R.Tensor((1, 4), dtype="float32"), R.Tensor((1, 1, 4, 4), dtype="float32"), R.Tensor((1, 4, 4, 4), dtype="float32")):
        with R.dataflow():
            lv: R.Tensor((1, 8, 8, 3), dtype="float32") = R.permute_dims(x, axes=[0, 2, 3, 1])
            lv_1: R.Tensor((4, 3, 3, 3), dtype="float32") = R.permute_dims(w, axes=[0, 2, 3, 1])
            a: R.Tensor((1, 8, 8, 4), dtype="float32") = R.nn.conv2d(lv, lv_1, strides=[1, 1], padding=[1, 1, 1, 1], dilation=[1, 1], groups=1, data_layout="NHWC", kernel_layout="OHWI", out_layout="NHWC")
            lv_2: R.Tensor((1, 1, 1, 4), dtype="float32") = R.permute_dims(bias, axes=[0, 2, 3, 1])
            b: R.Tensor((1, 8, 8, 4), dtype="float32") = R.add(a, lv_2)
            c: R.Tuple(R.Tensor((1, 8, 8, 4), dtype="float32"), R.Tensor((4,), dtype="float32"), R.Tensor((4,), dtype="float32")) = R.nn.batch_norm(b, scale, shift, shift, scale, axis=3, epsilon=1e-5, center=True, scale=True, momentum=0.1, training=True)
            d: R.Tensor((1, 8, 8, 4), dtype="float32") = c[0]
            e: R.Tensor((1, 4, 4, 4), dtype="float32") = R.nn.max_pool2d(d, pool_size=[2, 2], strides=[2, 2], padding=[0, 0, 0, 0], dilation=[1, 1], ceil_mode=False, count_include_pad=False, layout="NHWC", out_layout="NHWC")
            f: R.Tuple(R.Tensor((1, 4, 4, 2), dtype="float32"), R.Tensor((1, 4, 4, 2), dtype="float32")) = R.split(e, indices_or_sections=2, axis=3)
            g: R.Tensor((1, 4, 4, 2), dtype="float32") = f[0]
            h: R.Tensor((1, 4, 4, 2), dtype="float32") = f[1]
            i: R.Tensor((1, 4, 4, 4), dtype="float32") = R.concat((h, g), axis=3)
            j: R.Tensor((1, 4, 4, 4), dtype="float32") = R.nn.softmax(i, axis=3)
            k: R.Tensor((1, 4, 1, 4, 4), dtype="float32") = R.expand_dims(j, axis=[2])
            lv_3: R.Tensor((4, 4, 4), dtype="float32") = R.squeeze(k, axis=[0, 2])
            l: R.Tensor((4, 4, 4), dtype="float32") = R.permute_dims(lv_3, axes=[2, 0, 1])
            lv_4: R.Tensor((1, 4, 4, 2), dtype="float32") = R.strided_slice(i, R.shape([3]), R.shape([0]), R.shape([2]), assume_inbound=False)
            m: R.Tensor((1, 2, 4, 4), dtype="float32") = R.permute_dims(lv_4, axes=[0, 3, 1, 2])
            n: R.Tensor((1, 4, 4, 4), dtype="float32") = R.permute_dims(i, axes=[0, 1, 3, 2])
            o: R.Tensor((1, 4), dtype="float32") = R.mean(i, axis=[1, 2], keepdims=False)
            lv_5: R.Tensor((1, 4, 4, 1), dtype="float32") = R.sum(i, axis=[3], keepdims=True)
            p: R.Tensor((1, 1, 4, 4), dtype="float32") = R.permute_dims(lv_5, axes=[0, 3, 1, 2])
            q: R.Tensor((1, 4, 4, 4), dtype="float32") = R.nn.prelu(i, scale, axis=3)
            r: R.Tensor((1, 4, 4, 4), dtype="float32") = R.flip(q, axis=2)
            lv_6: R.Tensor((1, 4, 4, 4), dtype="float32") = R.permute_dims(r, axes=[0, 3, 1, 2])
            s: R.Tensor((1, 4, 4, 4), dtype="float32") = R.cumsum(lv_6, axis=2, exclusive=False, reverse=False)
            R.output(l, m, n, o, p, s)
        return (l, m, n, o, p, s)
