# test: pass
# run: to_mixed_precision {"out_dtype": "float16"}
# Products take float16, a value that only they use is kept in it, what follows does so while all its operands have it; softmax
# and sums keep float32, and so do values that leave the block, also where a product inside uses them.

@I.ir_module
class Module:
    @R.function
    def main(x: R.Tensor((4, 8), "float32"), w: R.Tensor((8, 8), "float32"), b: R.Tensor((8,), "float32"), i: R.Tensor((8,), "int32")):
        with R.dataflow():
            a = R.matmul(x, w)
            c = R.nn.gelu(a)
            d = R.add(c, b)
            e = R.matmul(c, w)
            f = R.split(e, 2, axis=1)
            g = f[0]
            h = R.multiply(g, R.const(2.0, "float32"))
            j = R.nn.softmax(h)
            k = (e, j)
            l = k[0]
            m = R.matmul(l, w)
            n = R.take(m, i, axis=1)
            R.output(d, e, n)
        return (d, e, n)
# expect:
# from tvm.script import ir as I
# from tvm.script import relax as R

@I.ir_module
class Module:
    @R.function
    def main(x: R.Tensor((4, 8), dtype="float32"), w: R.Tensor((8, 8), dtype="float32"), b: R.Tensor((8,), dtype="float32"), i: R.Tensor((8,), dtype="int32")) -> R.Tuple(R.Tensor((4, 8), dtype="float32"), R.Tensor((4, 8), dtype="float32"), R.Tensor((4, 8), dtype="float32")):
        with R.dataflow():
            lv: R.Tensor((4, 8), dtype="float16") = R.astype(x, dtype=R.dtype("float16"))
            lv_1: R.Tensor((8, 8), dtype="float16") = R.astype(w, dtype=R.dtype("float16"))
            a: R.Tensor((4, 8), dtype="float16") = R.matmul(lv, lv_1, out_dtype=R.dtype("float16"))
            c: R.Tensor((4, 8), dtype="float16") = R.nn.gelu(a)
            lv_2: R.Tensor((4, 8), dtype="float32") = R.astype(c, dtype=R.dtype("float32"))
            d: R.Tensor((4, 8), dtype="float32") = R.add(lv_2, b)
            e: R.Tensor((4, 8), dtype="float16") = R.matmul(c, lv_1, out_dtype=R.dtype("float16"))
            lv_3: R.Tensor((4, 8), dtype="float32") = R.astype(e, dtype=R.dtype("float32"))
            f: R.Tuple(R.Tensor((4, 4), dtype="float32"), R.Tensor((4, 4), dtype="float32")) = R.split(lv_3, indices_or_sections=2, axis=1)
            g: R.Tensor((4, 4), dtype="float32") = f[0]
            h: R.Tensor((4, 4), dtype="float32") = R.multiply(g, R.const(2.0, "float32"))
            j: R.Tensor((4, 4), dtype="float32") = R.nn.softmax(h, axis=-1)
            k: R.Tuple(R.Tensor((4, 8), dtype="float32"), R.Tensor((4, 4), dtype="float32")) = (lv_3, j)
            lv_4: R.Tensor((4, 8), dtype="float32") = k[0]
            lv_5: R.Tensor((4, 8), dtype="float16") = R.astype(lv_4, dtype=R.dtype("float16"))
            lv_6: R.Tensor((4, 4), dtype="float32") = k[1]
            m: R.Tensor((4, 8), dtype="float16") = R.matmul(lv_5, lv_1, out_dtype=R.dtype("float16"))
            lv_7: R.Tensor((4, 8), dtype="float32") = R.astype(m, dtype=R.dtype("float32"))
            n: R.Tensor((4, 8), dtype="float32") = R.take(lv_7, i, axis=1, mode="fast")
            R.output(d, lv_3, n)
        return (d, lv_3, n)
