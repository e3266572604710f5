# test: pass
# run: reorder_take_after_matmul, reorder_permute_dims_after_concat
# Columns are taken from the product; matrices of a table are taken after a product with all of them. What is joined is permuted once,
# if all is permuted in the same way.

@I.ir_module
class Module:
    @R.function
    def matrices(x: R.Tensor((2, 3, 4), "float32"), table: R.Tensor((5, 4, 6), "float32"), i: R.Tensor((2,), "float32"), m: R.Tensor((4, 7), "float32")):
        with R.dataflow():
            j = R.astype(i, "int64")
            k = R.subtract(j, j)
            w = R.take(table, k, axis=0)
            y = R.matmul(x, w)
            u = R.take(m, k, axis=1)
            z = R.matmul(x, u)
            R.output(y, z)
        return (y, z)

    @R.function
    def joined(x: R.Tensor((2, 3, 4), "float32"), y: R.Tensor((5, 3, 4), "float32"), z: R.Tensor((4, 2, 3), "float32")):
        with R.dataflow():
            a = R.permute_dims(x, axes=[2, 0, 1])
            b = R.permute_dims(y, axes=[2, 0, 1])
            c = R.concat((a, b), axis=1)
            d = R.permute_dims(z, axes=[0, 1, 2])
            e = R.concat((a, d), axis=1)
            R.output(c, e)
        return (c, e)
# expect:
# from tvm.script import ir as I
# from tvm.script import relax as R

@I.ir_module
class Module:
    @R.function
    def joined(x: R.Tensor((2, 3, 4), dtype="float32"), y: R.Tensor((5, 3, 4), dtype="float32"), z: R.Tensor((4, 2, 3), dtype="float32")) -> R.Tuple(R.Tensor((4, 7, 3), dtype="float32"), R.Tensor((4, 4, 3), dtype="float32")):
        with R.dataflow():
            a: R.Tensor((4, 2, 3), dtype="float32") = R.permute_dims(x, axes=[2, 0, 1])
            lv: R.Tensor((7, 3, 4), dtype="float32") = R.concat((x, y), axis=0)
            c: R.Tensor((4, 7, 3), dtype="float32") = R.permute_dims(lv, axes=[2, 0, 1])
            d: R.Tensor((4, 2, 3), dtype="float32") = R.permute_dims(z, axes=[0, 1, 2])
            e: R.Tensor((4, 4, 3), dtype="float32") = R.concat((a, d), axis=1)
            R.output(c, e)
        return (c, e)

    @R.function
    def matrices(x: R.Tensor((2, 3, 4), dtype="float32"), table: R.Tensor((5, 4, 6), dtype="float32"), i: R.Tensor((2,), dtype="float32"), m: R.Tensor((4, 7), dtype="float32")) -> R.Tuple(R.Tensor((2, 3, 6), dtype="float32"), R.Tensor((2, 3, 2), dtype="float32")):
        with R.dataflow():
            j: R.Tensor((2,), dtype="int64") = R.astype(i, dtype=R.dtype("int64"))
            k: R.Tensor((2,), dtype="int64") = R.subtract(j, j)
            lv: R.Tensor((4, 5, 6), dtype="float32") = R.permute_dims(table, axes=[1, 0, 2])
            lv_1: R.Tensor((4, 30), dtype="float32") = R.reshape(lv, R.shape([4, 30]))
            lv_2: R.Tensor((2, 3, 30), dtype="float32") = R.matmul(x, lv_1)
            lv_3: R.Tensor((2, 3, 5, 6), dtype="float32") = R.reshape(lv_2, R.shape([2, 3, 5, 6]))
            lv_4: R.Tensor((2, 3, 2, 6), dtype="float32") = R.take(lv_3, k, axis=2, mode="fast")
            y: R.Tensor((2, 3, 6), dtype="float32") = R.einsum((lv_4,), subscripts="ijik->ijk")
            lv_5: R.Tensor((2, 3, 7), dtype="float32") = R.matmul(x, m)
            z: R.Tensor((2, 3, 2), dtype="float32") = R.take(lv_5, k, axis=2, mode="fast")
            R.output(y, z)
        return (y, z)
