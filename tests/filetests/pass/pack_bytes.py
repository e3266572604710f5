# test: pass
# target: cpu
# run: pack_bytes
# Products of bytes, signed and unsigned, with zero points of every kind, and an open number of rows.

@I.ir_module
class Module:
    @R.function
    def plain(x: R.Tensor((3, 8), "uint8"), w: R.Tensor((8, 5), "int8")) -> R.Tensor((3, 5), "int32"):
        with R.dataflow():
            a = R.astype(x, dtype="int32")
            b = R.astype(w, dtype="int32")
            y = R.matmul(a, b)
            R.output(y)
        return y

    @R.function
    def moved(
        x: R.Tensor(("n", 2, 7), "int8"), w: R.Tensor((7, 5), "uint8"), zx: R.Tensor((2, 1), "int8"), zw: R.Tensor((5,), "uint8")
    ) -> R.Tensor(("n", 2, 5), "int32"):
        with R.dataflow():
            a = R.subtract(R.astype(x, dtype="int32"), R.astype(zx, dtype="int32"))
            b = R.subtract(R.astype(w, dtype="int32"), R.astype(zw, dtype="int32"))
            y = R.matmul(a, b)
            R.output(y)
        return y

    @R.function
    def windows(
        x: R.Tensor((1, 6, 5, 5), "uint8"), w: R.Tensor((3, 6, 3, 3), "int8"), zx: R.Tensor((), "uint8")
    ) -> R.Tensor((1, 3, 3, 3), "int32"):
        with R.dataflow():
            a = R.subtract(R.astype(x, dtype="int32"), R.astype(zx, dtype="int32"))
            b = R.astype(w, dtype="int32")
            y = R.nn.conv2d(a, b, strides=[2, 2], padding=[1, 1, 1, 1])
            R.output(y)
        return y

    @R.function
    def filters(
        x: R.Tensor((1, 4, 3, 3), "int8"), w: R.Tensor((2, 4, 2, 2), "uint8"), zw: R.Tensor((2, 1, 1, 1), "uint8")
    ) -> R.Tensor((1, 2, 2, 2), "int32"):
        with R.dataflow():
            b = R.subtract(R.astype(w, dtype="int32"), R.astype(zw, dtype="int32"))
            y = R.nn.conv2d(R.astype(x, dtype="int32"), b)
            R.output(y)
        return y

    # Not a matrix, and groups of channels: as they are.
    @R.function
    def kept(
        x: R.Tensor((2, 3, 8), "uint8"), w: R.Tensor((2, 8, 5), "int8"), i: R.Tensor((1, 4, 3, 3), "uint8"), k: R.Tensor((2, 2, 3, 3), "uint8")
    ) -> R.Tuple(R.Tensor((2, 3, 5), "int32"), R.Tensor((1, 2, 1, 1), "int32")):
        with R.dataflow():
            y = R.matmul(R.astype(x, dtype="int32"), R.astype(w, dtype="int32"))
            z = R.nn.conv2d(R.astype(i, dtype="int32"), R.astype(k, dtype="int32"), groups=2)
            R.output(y, z)
        return (y, z)
