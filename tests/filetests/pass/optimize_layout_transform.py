# test: pass
# run: optimize_layout_transform
# The second change of layout undoes the first, also after one that packs. Two rotations of a cube keep the shape, not the order.

@I.ir_module
class Module:
    @R.function
    def main(x: R.Tensor((2, 4), "float32"), y: R.Tensor((8,), "float32"), z: R.Tensor((2, 2, 2), "float32")):
        with R.dataflow():
            a = R.layout_transform(x, index_map=T.index_map(lambda i, j: (j, i)))
            b = R.layout_transform(a, index_map=T.index_map(lambda i, j: (j, i)))
            c = R.exp(b)
            g = R.layout_transform(y, index_map=T.index_map(lambda i: (i // 4, i % 4)))
            h = R.layout_transform(g, index_map=T.index_map(lambda i, j: (i * 4 + j,)))
            k = R.exp(h)
            d = R.layout_transform(z, index_map=T.index_map(lambda i, j, k: (j, k, i)))
            e = R.layout_transform(d, index_map=T.index_map(lambda i, j, k: (j, k, i)))
            f = R.exp(e)
            R.output(c, f, k)
        return (c, f, k)
# expect:
# from tvm.script import ir as I
# from tvm.script import relax as R

@I.ir_module
class Module:
    @R.function
    def main(x: R.Tensor((2, 4), dtype="float32"), y: R.Tensor((8,), dtype="float32"), z: R.Tensor((2, 2, 2), dtype="float32")) -> R.Tuple(R.Tensor((2, 4), dtype="float32"), R.Tensor((2, 2, 2), dtype="float32"), R.Tensor((8,), dtype="float32")):
        with R.dataflow():
            c: R.Tensor((2, 4), dtype="float32") = R.exp(x)
            k: R.Tensor((8,), dtype="float32") = R.exp(y)
            d: R.Tensor((2, 2, 2), dtype="float32") = R.layout_transform(z, index_map=T.index_map(lambda i, j, k_1: (j, k_1, i)))
            e: R.Tensor((2, 2, 2), dtype="float32") = R.layout_transform(d, index_map=T.index_map(lambda i, j, k_1: (j, k_1, i)))
            f: R.Tensor((2, 2, 2), dtype="float32") = R.exp(e)
            R.output(c, f, k)
        return (c, f, k)
