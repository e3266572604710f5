# test: pass
# run: recognize_ops
# Scores that a mask replaces: by a number beside which they vanish, or of keys that come later.

@I.ir_module
class Module:
    @R.function
    def main(q: R.Tensor((2, "n", 3, 4), "float32"), seen: R.Tensor((2, 1, 1, "n"), "bool")):
        n = T.int64()
        with R.dataflow():
            heads = R.permute_dims(q, axes=[0, 2, 1, 3])
            turned = R.permute_dims(q, axes=[0, 2, 3, 1])
            a = R.matmul(heads, turned)
            a1 = R.where(seen, a, R.const(-3.0e38, "float32"))
            a2 = R.nn.softmax(a1, axis=3)
            x = R.permute_dims(R.matmul(a2, heads), axes=[0, 2, 1, 3])
            p = R.arange(R.prim_value(n), dtype="int64")
            past = R.less_equal(R.reshape(p, R.shape([1, n])), R.reshape(p, R.shape([n, 1])))
            b = R.matmul(heads, turned)
            b1 = R.where(past, b, R.const(-1000000000.0, "float32"))
            b2 = R.nn.softmax(b1, axis=3)
            y = R.permute_dims(R.matmul(b2, heads), axes=[0, 2, 1, 3])
            R.output(x, y)
        return (x, y)
# expect:
# from tvm.script import ir as I
# from tvm.script import tir as T
# from tvm.script import relax as R

@I.ir_module
class Module:
    @R.function
    def main(q: R.Tensor((2, "n", 3, 4), dtype="float32"), seen: R.Tensor((2, 1, 1, "n"), dtype="bool")) -> R.Tuple(R.Tensor((2, "n", 3, 4), dtype="float32"), R.Tensor((2, "n", 3, 4), dtype="float32")):
        n = T.int64()
        with R.dataflow():
            lv: R.Tensor((2, 1, 1, n), dtype="float32") = R.where(seen, R.const(0.0, "float32"), R.const(-3e38, "float32"))
            x: R.Tensor((2, n, 3, 4), dtype="float32") = R.nn.attention_bias(q, q, q, lv, scale=1.0)
            p: R.Tensor((n,), dtype="int64") = R.arange(R.prim_value(n), dtype=R.dtype("int64"))
            lv_1: R.Tensor((1, n), dtype="int64") = R.reshape(p, R.shape([1, n]))
            lv_2: R.Tensor((n, 1), dtype="int64") = R.reshape(p, R.shape([n, 1]))
            past: R.Tensor((n, n), dtype="bool") = R.less_equal(lv_1, lv_2)
            lv_3: R.Tensor((n, n), dtype="float32") = R.where(past, R.const(0.0, "float32"), R.const(-1000000000.0, "float32"))
            y: R.Tensor((2, n, 3, 4), dtype="float32") = R.nn.attention_bias(q, q, q, lv_3, scale=1.0)
            R.output(x, y)
        return (x, y)
