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
