# test: pass
# run: recognize_ops
# Attention with a mask, scaled after the product; without one, scaled before it, with transposes of transposes.

@I.ir_module
class Module:
    @R.function
    def main(q: R.Tensor((2, "n", 3, 4), "float32"), k: R.Tensor((2, "m", 3, 4), "float32"), v: R.Tensor((2, "m", 3, 5), "float32"), mask: R.Tensor((2, 1, 1, "m"), "float32")):
        n = T.int64()
        m = T.int64()
        with R.dataflow():
            q1 = R.permute_dims(q, axes=[0, 2, 1, 3])
            k1 = R.permute_dims(k, axes=[0, 2, 3, 1])
            v1 = R.permute_dims(v, axes=[0, 2, 1, 3])
            s = R.matmul(q1, k1)
            s1 = R.divide(s, R.const(2.0, "float32"))
            s2 = R.add(mask, s1)
            s3 = R.nn.softmax(s2, axis=3)
            s4 = R.matmul(s3, v1)
            a = R.permute_dims(s4, axes=[0, 2, 1, 3])
            t = R.permute_dims(q, axes=[0, 2, 1, 3])
            t1 = R.multiply(t, R.const(0.5, "float32"))
            u = R.permute_dims(k, axes=[0, 2, 1, 3])
            u1 = R.permute_dims(u, axes=[0, 1, 3, 2])
            u2 = R.multiply(u1, R.const(0.25, "float32"))
            w = R.permute_dims(a, axes=[0, 2, 1, 3])
            p = R.matmul(t1, u2)
            p1 = R.nn.softmax(p, axis=-1)
            p2 = R.matmul(p1, R.permute_dims(v, axes=[0, 2, 1, 3]))
            R.output(w, p2)
        return (w, p2)
# expect:
# from tvm.script import ir as I
# from tvm.script import tir as T
# from tvm.script import relax as R

@I.ir_module
class Module:
    @R.function
    def main(q: R.Tensor((2, "n", 3, 4), dtype="float32"), k: R.Tensor((2, "m", 3, 4), dtype="float32"), v: R.Tensor((2, "m", 3, 5), dtype="float32"), mask: R.Tensor((2, 1, 1, "m"), dtype="float32")) -> R.Tuple(R.Tensor((2, 3, "n", 5), dtype="float32"), R.Tensor((2, 3, "n", 5), dtype="float32")):
        m = T.int64()
        n = T.int64()
        with R.dataflow():
            a: R.Tensor((2, n, 3, 5), dtype="float32") = R.nn.attention_bias(q, k, v, mask, scale=0.5)
            w: R.Tensor((2, 3, n, 5), dtype="float32") = R.permute_dims(a, axes=[0, 2, 1, 3])
            lv: R.Tensor((2, n, 3, 5), dtype="float32") = R.nn.attention(q, k, v, scale=0.125)
            p2: R.Tensor((2, 3, n, 5), dtype="float32") = R.permute_dims(lv, axes=[0, 2, 1, 3])
            R.output(w, p2)
        return (w, p2)
