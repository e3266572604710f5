# test: pass
# run: convert_layout {"desired_layouts": {"relax.nn.conv2d": ["NHWC", "OHWI", "NHWC"]}}
# Outside of dataflow blocks nothing changes; tuples, checks and values that functions inside use get their own layouts.

@I.ir_module
class Module:
    @R.function
    def main(x: R.Tensor((1, 3, 8, "n"), "float32"), w: R.Tensor((4, 3, 3, 3), "float32")):
        n = T.int64()
        m = T.int64()
        with R.dataflow():
            a = R.nn.conv2d(x, w)
            b = R.nn.relu(a)
            c = R.match_cast(b, R.Tensor((1, 4, 6, m), "float32"))
            d = (c, w)
            e = d[0]
            f = R.add(e, e)
            g = R.nn.relu(f)
            h = (f, g)
            R.output(g, h)
        i = R.nn.conv2d(x, w)
        @R.function
        def inner(y: R.Tensor((1, 4, 6, "k"), "float32")):
            k = T.int64()
            z = R.nn.relu(g)
            return z
        j = inner(i)
        return (j, h)
# expect:
# from tvm.script import ir as I
# from tvm.script import tir as T
# from tvm.script import relax as R

@I.ir_module
class Module:
    @R.function
    def main(x: R.Tensor((1, 3, 8, "n"), dtype="float32"), w: R.Tensor((4, 3, 3, 3), dtype="float32")) -> R.Tuple(R.Tensor(dtype="float32", ndim=4), R.Tuple(R.Tensor(dtype="float32", ndim=4), R.Tensor(dtype="float32", ndim=4))):
        k = T.int64()
        m = T.int64()
        n = T.int64()
        with R.dataflow():
            lv: R.Tensor((1, 8, n, 3), dtype="float32") = R.permute_dims(x, axes=[0, 2, 3, 1])
            lv_1: R.Tensor((4, 3, 3, 3), dtype="float32") = R.permute_dims(w, axes=[0, 2, 3, 1])
            a: R.Tensor((1, 6, n - 2, 4), dtype="float32") = R.nn.conv2d(lv, lv_1, strides=[1, 1], padding=[0, 0, 0, 0], dilation=[1, 1], groups=1, data_layout="NHWC", kernel_layout="OHWI", out_layout="NHWC")
            b: R.Tensor((1, 6, n - 2, 4), dtype="float32") = R.nn.relu(a)
            c: R.Tensor((1, 6, m, 4), dtype="float32") = R.match_cast(b, R.Tensor((1, 6, m, 4), dtype="float32"))
            d: R.Tuple(R.Tensor((1, 6, m, 4), dtype="float32"), R.Tensor((4, 3, 3, 3), dtype="float32")) = (c, w)
            e: R.Tensor((1, 6, m, 4), dtype="float32") = d[0]
            f: R.Tensor((1, 6, m, 4), dtype="float32") = R.add(e, e)
            lv_2: R.Tensor((1, 6, m, 4), dtype="float32") = R.nn.relu(f)
            g: R.Tensor((1, 4, 6, m), dtype="float32") = R.permute_dims(lv_2, axes=[0, 3, 1, 2])
            lv_3: R.Tensor((1, 4, 6, m), dtype="float32") = R.permute_dims(f, axes=[0, 3, 1, 2])
            h: R.Tuple(R.Tensor((1, 4, 6, m), dtype="float32"), R.Tensor((1, 4, 6, m), dtype="float32")) = (lv_3, g)
            R.output(g, h)
        i: R.Tensor((1, 4, 6, n - 2), dtype="float32") = R.nn.conv2d(x, w, strides=[1, 1], padding=[0, 0, 0, 0], dilation=[1, 1], groups=1, data_layout="NCHW", kernel_layout="OIHW", out_layout="NCHW")
        @R.function
        def inner(y: R.Tensor((1, 4, 6, "k"), dtype="float32")) -> R.Tensor((1, 4, 6, "m"), dtype="float32"):
            z: R.Tensor((1, 4, 6, m), dtype="float32") = R.nn.relu(g)
            return z
        j: R.Tensor((1, 4, 6, m), dtype="float32") = inner(i)
        return (j, h)
