# test: pass
# run: combine_parallel_matmul
# Products of `x` become one, with what all of them have after them. A product that another one needs is left alone, and so is a
# bias that is not one number for each column.

@I.ir_module
class Module:
    @R.function
    def products(x: R.Tensor(("n", 4), "float32"), a: R.Tensor((4, 2), "float32"), b: R.Tensor((4, 3), "float32"), c: R.Tensor((2, 4, 3), "float32")):
        with R.dataflow():
            u = R.matmul(x, a)
            v = R.nn.relu(u)
            w = R.matmul(x, b)
            y = R.matmul(x, c)
            R.output(v, w, y)
        return (v, w, y)

    @R.function
    def layers(x: R.Tensor((2, 4), "float32"), a: R.Tensor((4, 2), "float32"), b: R.Tensor((4, 3), "float32"), p: R.Tensor((2,), "float32"), q: R.Tensor((3,), "float32")):
        with R.dataflow():
            u = R.matmul(x, a)
            u1 = R.add(u, p)
            u2 = R.nn.relu(u1)
            t = R.permute_dims(b)
            d = R.permute_dims(t)
            v = R.matmul(x, d)
            v1 = R.add(v, q)
            v2 = R.nn.relu(v1)
            R.output(u2, v2)
        return (u2, v2)

    @R.function
    def scalars(x: R.Tensor((2, 4), "float32"), a: R.Tensor((4, 3), "float32"), b: R.Tensor((4, 3), "float32"), p: R.Tensor((1,), "float32")):
        with R.dataflow():
            u = R.matmul(x, a)
            u1 = R.add(u, p)
            v = R.matmul(x, b)
            v1 = R.add(v, p)
            R.output(u1, v1)
        return (u1, v1)

    @R.function
    def needed(x: R.Tensor((4, 4), "float32"), a: R.Tensor((4, 4), "float32")):
        with R.dataflow():
            u = R.matmul(x, a)
            v = R.matmul(x, u)
            R.output(v)
        return v

    @R.function
    def sizes(x: R.Tensor((2, 4), "float32"), a: R.Tensor((4, "n"), "float32"), b: R.Tensor((4, 3), "float32"), c: R.Tensor((4, "m"), "float32")):
        with R.dataflow():
            u = R.matmul(x, a)
            v = R.matmul(x, b)
            w = R.matmul(x, c)
            R.output(u, v, w)
        return (u, v, w)

    @R.function
    def vector(x: R.Tensor((4,), "float32"), a: R.Tensor((4, 2), "float32"), b: R.Tensor((4, 3), "float32")):
        with R.dataflow():
            u = R.matmul(x, a)
            v = R.matmul(x, b)
            R.output(u, v)
        return (u, v)
# expect:
# from tvm.script import ir as I
# from tvm.script import tir as T
# from tvm.script import relax as R

@I.ir_module
class Module:
    @R.function
    def layers(x: R.Tensor((2, 4), dtype="float32"), a: R.Tensor((4, 2), dtype="float32"), b: R.Tensor((4, 3), dtype="float32"), p: R.Tensor((2,), dtype="float32"), q: R.Tensor((3,), dtype="float32")) -> R.Tuple(R.Tensor((2, 2), dtype="float32"), R.Tensor((2, 3), dtype="float32")):
        with R.dataflow():
            t: R.Tensor((3, 4), dtype="float32") = R.permute_dims(b)
            d: R.Tensor((4, 3), dtype="float32") = R.permute_dims(t)
            lv: R.Tensor((4, 5), dtype="float32") = R.concat((a, d), axis=1)
            lv_1: R.Tensor((2, 5), dtype="float32") = R.matmul(x, lv, out_dtype=R.dtype("float32"))
            lv_2: R.Tensor((5,), dtype="float32") = R.concat((p, q), axis=0)
            lv_3: R.Tensor((2, 5), dtype="float32") = R.add(lv_1, lv_2)
            lv_4: R.Tensor((2, 5), dtype="float32") = R.nn.relu(lv_3)
            lv_5: R.Tuple(R.Tensor((2, 2), dtype="float32"), R.Tensor((2, 3), dtype="float32")) = R.split(lv_4, indices_or_sections=[2], axis=1)
            u2: R.Tensor((2, 2), dtype="float32") = lv_5[0]
            v2: R.Tensor((2, 3), dtype="float32") = lv_5[1]
            R.output(u2, v2)
        return (u2, v2)

    @R.function
    def needed(x: R.Tensor((4, 4), dtype="float32"), a: R.Tensor((4, 4), dtype="float32")) -> R.Tensor((4, 4), dtype="float32"):
        with R.dataflow():
            u: R.Tensor((4, 4), dtype="float32") = R.matmul(x, a)
            v: R.Tensor((4, 4), dtype="float32") = R.matmul(x, u)
            R.output(v)
        return v

    @R.function
    def products(x: R.Tensor(("n", 4), dtype="float32"), a: R.Tensor((4, 2), dtype="float32"), b: R.Tensor((4, 3), dtype="float32"), c: R.Tensor((2, 4, 3), dtype="float32")) -> R.Tuple(R.Tensor(("n", 2), dtype="float32"), R.Tensor(("n", 3), dtype="float32"), R.Tensor((2, "n", 3), dtype="float32")):
        n = T.int64()
        with R.dataflow():
            lv: R.Tensor((4, 5), dtype="float32") = R.concat((a, b), axis=1)
            lv_1: R.Tensor((n, 5), dtype="float32") = R.matmul(x, lv, out_dtype=R.dtype("float32"))
            lv_2: R.Tuple(R.Tensor((n, 2), dtype="float32"), R.Tensor((n, 3), dtype="float32")) = R.split(lv_1, indices_or_sections=[2], axis=1)
            u: R.Tensor((n, 2), dtype="float32") = lv_2[0]
            v: R.Tensor((n, 2), dtype="float32") = R.nn.relu(u)
            w: R.Tensor((n, 3), dtype="float32") = lv_2[1]
            y: R.Tensor((2, n, 3), dtype="float32") = R.matmul(x, c)
            R.output(v, w, y)
        return (v, w, y)

    @R.function
    def scalars(x: R.Tensor((2, 4), dtype="float32"), a: R.Tensor((4, 3), dtype="float32"), b: R.Tensor((4, 3), dtype="float32"), p: R.Tensor((1,), dtype="float32")) -> R.Tuple(R.Tensor((2, 3), dtype="float32"), R.Tensor((2, 3), dtype="float32")):
        with R.dataflow():
            lv: R.Tensor((4, 6), dtype="float32") = R.concat((a, b), axis=1)
            lv_1: R.Tensor((2, 6), dtype="float32") = R.matmul(x, lv, out_dtype=R.dtype("float32"))
            lv_2: R.Tuple(R.Tensor((2, 3), dtype="float32"), R.Tensor((2, 3), dtype="float32")) = R.split(lv_1, indices_or_sections=[3], axis=1)
            u: R.Tensor((2, 3), dtype="float32") = lv_2[0]
            u1: R.Tensor((2, 3), dtype="float32") = R.add(u, p)
            v: R.Tensor((2, 3), dtype="float32") = lv_2[1]
            v1: R.Tensor((2, 3), dtype="float32") = R.add(v, p)
            R.output(u1, v1)
        return (u1, v1)

    @R.function
    def sizes(x: R.Tensor((2, 4), dtype="float32"), a: R.Tensor((4, "n"), dtype="float32"), b: R.Tensor((4, 3), dtype="float32"), c: R.Tensor((4, "m"), dtype="float32")) -> R.Tuple(R.Tensor((2, "n"), dtype="float32"), R.Tensor((2, 3), dtype="float32"), R.Tensor((2, "m"), dtype="float32")):
        m = T.int64()
        n = T.int64()
        with R.dataflow():
            lv: R.Tensor((4, n + 3), dtype="float32") = R.concat((b, a), axis=1)
            lv_1: R.Tensor((2, n + 3), dtype="float32") = R.matmul(x, lv, out_dtype=R.dtype("float32"))
            lv_2: R.Tuple(R.Tensor((2, 3), dtype="float32"), R.Tensor((2, n), dtype="float32")) = R.split(lv_1, indices_or_sections=[3], axis=1)
            u: R.Tensor((2, n), dtype="float32") = lv_2[1]
            v: R.Tensor((2, 3), dtype="float32") = lv_2[0]
            w: R.Tensor((2, m), dtype="float32") = R.matmul(x, c)
            R.output(u, v, w)
        return (u, v, w)

    @R.function
    def vector(x: R.Tensor((4,), dtype="float32"), a: R.Tensor((4, 2), dtype="float32"), b: R.Tensor((4, 3), dtype="float32")) -> R.Tuple(R.Tensor((2,), dtype="float32"), R.Tensor((3,), dtype="float32")):
        with R.dataflow():
            lv: R.Tensor((4, 5), dtype="float32") = R.concat((a, b), axis=1)
            lv_1: R.Tensor((5,), dtype="float32") = R.matmul(x, lv, out_dtype=R.dtype("float32"))
            lv_2: R.Tuple(R.Tensor((2,), dtype="float32"), R.Tensor((3,), dtype="float32")) = R.split(lv_1, indices_or_sections=[2], axis=0)
            u: R.Tensor((2,), dtype="float32") = lv_2[0]
            v: R.Tensor((3,), dtype="float32") = lv_2[1]
            R.output(u, v)
        return (u, v)
