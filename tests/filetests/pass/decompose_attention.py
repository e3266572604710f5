# test: pass
# run: decompose_attention
# Two products and a softmax on a GPU; a causal mask, heads of keys that are shared, and narrow floats stay.

@I.ir_module
class Module:
    @R.function
    def main(q: R.Tensor((2, "n", 4, 8), "float32"), k: R.Tensor((2, "m", 4, 8), "float32"), v: R.Tensor((2, "m", 4, 6), "float32"), b: R.Tensor((2, 1, 1, "m"), "float32"), s: R.Tensor((2, "m", 2, 8), "float32"), h: R.Tensor((2, "n", 4, 8), "float16")):
        n = T.int64()
        m = T.int64()
        with R.dataflow():
            w = R.nn.attention(q, k, v)
            x = R.nn.attention_bias(q, k, v, b, scale=1.0)
            y = R.nn.attention(q, k, v, causal_mask="TopLeft")
            z = R.nn.attention(q, s, s)
            u = R.nn.attention(h, h, h)
            R.output(w, x, y, z, u)
        return (w, x, y, z, u)
# expect:
# from tvm.script import ir as I
# from tvm.script import tir as T
# from tvm.script import relax as R

@I.ir_module
class Module:
    @R.function
    def main(q: R.Tensor((2, "n", 4, 8), dtype="float32"), k: R.Tensor((2, "m", 4, 8), dtype="float32"), v: R.Tensor((2, "m", 4, 6), dtype="float32"), b: R.Tensor((2, 1, 1, "m"), dtype="float32"), s: R.Tensor((2, "m", 2, 8), dtype="float32"), h: R.Tensor((2, "n", 4, 8), dtype="float16")) -> R.Tuple(R.Tensor((2, "n", 4, 6), dtype="float32"), R.Tensor((2, "n", 4, 6), dtype="float32"), R.Tensor((2, "n", 4, 6), dtype="float32"), R.Tensor((2, "n", 4, 8), dtype="float32"), R.Tensor((2, "n", 4, 8), dtype="float16")):
        m = T.int64()
        n = T.int64()
        with R.dataflow():
            lv: R.Tensor((2, 4, n, m), dtype="float32") = R.einsum((q, k), subscripts="bqhd,bkhd->bhqk")
            lv_1: R.Tensor((2, 4, n, m), dtype="float32") = R.multiply(lv, R.const(0.35355338, "float32"))
            lv_2: R.Tensor((2, 4, n, m), dtype="float32") = R.nn.softmax(lv_1, axis=-1)
            w: R.Tensor((2, n, 4, 6), dtype="float32") = R.einsum((lv_2, v), subscripts="bhqk,bkhd->bqhd")
            lv_3: R.Tensor((2, 4, n, m), dtype="float32") = R.einsum((q, k), subscripts="bqhd,bkhd->bhqk")
            lv_4: R.Tensor((2, 4, n, m), dtype="float32") = R.add(lv_3, b)
            lv_5: R.Tensor((2, 4, n, m), dtype="float32") = R.nn.softmax(lv_4, axis=-1)
            x: R.Tensor((2, n, 4, 6), dtype="float32") = R.einsum((lv_5, v), subscripts="bhqk,bkhd->bqhd")
            y: R.Tensor((2, n, 4, 6), dtype="float32") = R.nn.attention(q, k, v, causal_mask="TopLeft")
            z: R.Tensor((2, n, 4, 8), dtype="float32") = R.nn.attention(q, s, s)
            u: R.Tensor((2, n, 4, 8), dtype="float16") = R.nn.attention(h, h, h)
            R.output(w, x, y, z, u)
        return (w, x, y, z, u)
