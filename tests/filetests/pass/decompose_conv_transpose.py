# test: pass
# run: decompose_conv_transpose
# Windows whose extents are multiples of the strides: what lies between two strides becomes channels. The width is open, and the first and
# the last row are cut off. Others stay: without strides, with windows of three elements for strides of two, with dilation, of two groups.

@I.ir_module
class Module:
    @R.function
    def main(x: R.Tensor(("n", 3, 5, "w"), "float32"), v: R.Tensor((3, 2, 4, 2), "float32"), a: R.Tensor((3, 2, 3, 3), "float32"), b: R.Tensor((3, 2, 2, 2), "float32"), c: R.Tensor((4, 2, 2, 2), "float32"), z: R.Tensor((1, 4, 5, 5), "float32")):
        with R.dataflow():
            y = R.nn.conv2d_transpose(x, v, strides=[2, 2], padding=[1, 0, 1, 0])
            p = R.nn.conv2d_transpose(x, a)
            q = R.nn.conv2d_transpose(x, a, strides=[2, 2])
            r = R.nn.conv2d_transpose(x, b, strides=[2, 2], dilation=[2, 2])
            s = R.nn.conv2d_transpose(z, c, strides=[2, 2], groups=2)
            t = (y, p, q, r, s)
            R.output(t)
        return t
# expect:
# from tvm.script import ir as I
# from tvm.script import tir as T
# from tvm.script import relax as R

@I.ir_module
class Module:
    @R.function
    def main(x: R.Tensor(("n", 3, 5, "w"), dtype="float32"), v: R.Tensor((3, 2, 4, 2), dtype="float32"), a: R.Tensor((3, 2, 3, 3), dtype="float32"), b: R.Tensor((3, 2, 2, 2), dtype="float32"), c: R.Tensor((4, 2, 2, 2), dtype="float32"), z: R.Tensor((1, 4, 5, 5), dtype="float32")) -> R.Tuple(R.Tensor(("n", 2, 10, "(w - 1) * 2 + 2"), dtype="float32"), R.Tensor(("n", 2, 7, "w - 1 + 3"), dtype="float32"), R.Tensor(("n", 2, 11, "(w - 1) * 2 + 3"), dtype="float32"), R.Tensor(("n", 2, 11, "(w - 1) * 2 + 3"), dtype="float32"), R.Tensor((1, 4, 10, 10), dtype="float32")):
        n = T.int64()
        w = T.int64()
        with R.dataflow():
            lv: R.Tensor((3, 2, 2, 2, 1, 2), dtype="float32") = R.reshape(v, R.shape([3, 2, 2, 2, 1, 2]))
            lv_1: R.Tensor((3, 2, 2, 2, 1, 2), dtype="float32") = R.flip(lv, axis=2)
            lv_2: R.Tensor((2, 2, 2, 3, 2, 1), dtype="float32") = R.permute_dims(lv_1, axes=[1, 3, 5, 0, 2, 4])
            lv_3: R.Tensor((8, 3, 2, 1), dtype="float32") = R.reshape(lv_2, R.shape([8, 3, 2, 1]))
            lv_4: R.Tensor((n, 8, 6, w), dtype="float32") = R.nn.conv2d(x, lv_3, strides=[1, 1], padding=[1, 0, 1, 0], dilation=[1, 1], groups=1, data_layout="NCHW", kernel_layout="OIHW", out_layout="NCHW")
            lv_5: R.Tensor((n, 2, 2, 2, 6, w), dtype="float32") = R.reshape(lv_4, R.shape([n, 2, 2, 2, 6, w]))
            lv_6: R.Tensor((n, 2, 6, 2, w, 2), dtype="float32") = R.permute_dims(lv_5, axes=[0, 1, 4, 2, 5, 3])
            lv_7: R.Tensor((n, 2, 12, w * 2), dtype="float32") = R.reshape(lv_6, R.shape([n, 2, 12, w * 2]))
            y: R.Tensor((n, 2, 10, (w - 1) * 2 + 2), dtype="float32") = R.nn.pad(lv_7, pad_width=[0, 0, 0, 0, -1, -1, 0, 0])
            p: R.Tensor((n, 2, 7, w - 1 + 3), dtype="float32") = R.nn.conv2d_transpose(x, a, strides=[1, 1], padding=[0, 0, 0, 0], output_padding=[0, 0], dilation=[1, 1], groups=1, data_layout="NCHW", kernel_layout="IOHW", out_layout="NCHW")
            q: R.Tensor((n, 2, 11, (w - 1) * 2 + 3), dtype="float32") = R.nn.conv2d_transpose(x, a, strides=[2, 2], padding=[0, 0, 0, 0], output_padding=[0, 0], dilation=[1, 1], groups=1, data_layout="NCHW", kernel_layout="IOHW", out_layout="NCHW")
            r: R.Tensor((n, 2, 11, (w - 1) * 2 + 3), dtype="float32") = R.nn.conv2d_transpose(x, b, strides=[2, 2], padding=[0, 0, 0, 0], output_padding=[0, 0], dilation=[2, 2], groups=1, data_layout="NCHW", kernel_layout="IOHW", out_layout="NCHW")
            s: R.Tensor((1, 4, 10, 10), dtype="float32") = R.nn.conv2d_transpose(z, c, strides=[2, 2], padding=[0, 0, 0, 0], output_padding=[0, 0], dilation=[1, 1], groups=2, data_layout="NCHW", kernel_layout="IOHW", out_layout="NCHW")
            t: R.Tuple(R.Tensor((n, 2, 10, (w - 1) * 2 + 2), dtype="float32"), R.Tensor((n, 2, 7, w - 1 + 3), dtype="float32"), R.Tensor((n, 2, 11, (w - 1) * 2 + 3), dtype="float32"), R.Tensor((n, 2, 11, (w - 1) * 2 + 3), dtype="float32"), R.Tensor((1, 4, 10, 10), dtype="float32")) = (y, p, q, r, s)
            R.output(t)
        return t
