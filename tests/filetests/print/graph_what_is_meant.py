# test: print
# An extent of -1 is the one that is left, a float of Python has 64 bits, dataflow blocks in a row are one, what a function returns
# is known below it, and a result has no extents that only its function knows.

@I.ir_module
class Module:
    @R.function(private=True)
    def pair(x: R.Tensor((4,), "float32")):
        y = R.exp(x)
        return (x, y)

    @R.function
    def main(x: R.Tensor((4,), "float32"), z: R.Tensor(ndim=1, dtype="float32")):
        n = T.int64()
        with R.dataflow():
            a = R.reshape(x, (2, -1))
            b = R.clip(a, -0.5, 0.5)
            R.output(b)
        with R.dataflow():
            c = R.layout_transform(x, index_map=lambda i: (i // 2, i % 2))
            R.output(c)
        t = Module.pair(x)
        d = t[1]
        e = R.match_cast(z, R.Tensor((n,), "float32"))
        return (b, c, d, e)
# expect:
# from tvm.script import ir as I
# from tvm.script import tir as T
# from tvm.script import relax as R

@I.ir_module
class Module:
    @R.function
    def main(x: R.Tensor((4,), dtype="float32"), z: R.Tensor(dtype="float32", ndim=1)) -> R.Tuple(R.Tensor((2, 2), dtype="float32"), R.Tensor((2, 2), dtype="float32"), R.Tensor((4,), dtype="float32"), R.Tensor(dtype="float32", ndim=1)):
        n = T.int64()
        cls = Module
        with R.dataflow():
            a: R.Tensor((2, 2), dtype="float32") = R.reshape(x, R.shape([2, 2]))
            b: R.Tensor((2, 2), dtype="float32") = R.clip(a, R.prim_value(T.float64(-0.5)), R.prim_value(T.float64(0.5)))
            c: R.Tensor((2, 2), dtype="float32") = R.layout_transform(x, index_map=T.index_map(lambda i: (i // T.int64(2), i % T.int64(2))))
            R.output(b, c)
        t: R.Tuple(R.Tensor((4,), dtype="float32"), R.Tensor((4,), dtype="float32")) = cls.pair(x)
        d: R.Tensor((4,), dtype="float32") = t[1]
        e: R.Tensor((n,), dtype="float32") = R.match_cast(z, R.Tensor((n,), dtype="float32"))
        return (b, c, d, e)

    @R.function(private=True)
    def pair(x: R.Tensor((4,), dtype="float32")) -> R.Tuple(R.Tensor((4,), dtype="float32"), R.Tensor((4,), dtype="float32")):
        y: R.Tensor((4,), dtype="float32") = R.exp(x)
        return (x, y)
