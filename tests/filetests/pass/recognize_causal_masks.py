# test: pass
# target: cpu
# run: recognize_causal_masks
# Masks that are made of positions, of open and of given lengths, and a constant one; not one that sees a key more.

@I.ir_module
class Module:
    @R.function
    def main(q: R.Tensor((1, "n", 2, 8), "float32"), s: R.Tensor((1, 3, 2, 8), "float32"), t: R.Tensor((1, 5, 2, 8), "float32")):
        n = T.int64()
        with R.dataflow():
            p = R.arange(R.prim_value(n), dtype="int64")
            row = R.reshape(R.add(p, R.const(0, "int64")), R.shape([1, 1, 1, n]))
            column = R.expand_dims(p, axis=[0, 1, 3])
            m = R.where(R.less_equal(row, column), R.const(0.0, "float32"), R.const(-1000000000.0, "float32"))
            w = R.nn.attention_bias(q, q, q, m, scale=0.5)
            three = R.reshape(R.arange(R.prim_value(T.int64(3)), dtype="int64"), R.shape([3, 1]))
            five = R.arange(R.prim_value(T.int64(5)), dtype="int64")
            later = R.greater(five, R.add(three, R.const(2, "int64")))
            x = R.nn.attention_bias(s, t, t, R.where(later, R.const(float("-inf"), "float32"), R.const(0.0, "float32")))
            y = R.nn.attention_bias(s, s, s, R.const([[0, -1e9, -1e9], [0, 0, -1e9], [0, 0, 0]], "float32"))
            one_more = R.greater(five, R.add(three, R.const(3, "int64")))
            z = R.nn.attention_bias(s, t, t, R.where(one_more, R.const(float("-inf"), "float32"), R.const(0.0, "float32")))
            few = R.where(R.less_equal(row, column), R.const(0.0, "float32"), R.const(-100.0, "float32"))
            v = R.nn.attention_bias(q, q, q, few)
            R.output(w, x, y, z, v)
        return (w, x, y, z, v)
# expect:
# from tvm.script import ir as I
# from tvm.script import tir as T
# from tvm.script import relax as R

@I.ir_module
class Module:
    @R.function
    def main(q: R.Tensor((1, "n", 2, 8), dtype="float32"), s: R.Tensor((1, 3, 2, 8), dtype="float32"), t: R.Tensor((1, 5, 2, 8), dtype="float32")) -> R.Tuple(R.Tensor((1, "n", 2, 8), dtype="float32"), R.Tensor((1, 3, 2, 8), dtype="float32"), R.Tensor((1, 3, 2, 8), dtype="float32"), R.Tensor((1, 3, 2, 8), dtype="float32"), R.Tensor((1, "n", 2, 8), dtype="float32")):
        n = T.int64()
        with R.dataflow():
            p: R.Tensor((n,), dtype="int64") = R.arange(R.prim_value(n), dtype=R.dtype("int64"))
            lv: R.Tensor((n,), dtype="int64") = R.add(p, R.const(0, "int64"))
            row: R.Tensor((1, 1, 1, n), dtype="int64") = R.reshape(lv, R.shape([1, 1, 1, n]))
            column: R.Tensor((1, 1, n, 1), dtype="int64") = R.expand_dims(p, axis=[0, 1, 3])
            w: R.Tensor((1, n, 2, 8), dtype="float32") = R.nn.attention(q, q, q, scale=0.5, causal_mask="TopLeft")
            lv_1: R.Tensor((3,), dtype="int64") = R.arange(R.prim_value(3), dtype=R.dtype("int64"))
            three: R.Tensor((3, 1), dtype="int64") = R.reshape(lv_1, R.shape([3, 1]))
            five: R.Tensor((5,), dtype="int64") = R.arange(R.prim_value(5), dtype=R.dtype("int64"))
            x: R.Tensor((1, 3, 2, 8), dtype="float32") = R.nn.attention(s, t, t, causal_mask="BottomRight")
            y: R.Tensor((1, 3, 2, 8), dtype="float32") = R.nn.attention(s, s, s, causal_mask="TopLeft")
            lv_2: R.Tensor((3, 1), dtype="int64") = R.add(three, R.const(3, "int64"))
            one_more: R.Tensor((3, 5), dtype="bool") = R.greater(five, lv_2)
            lv_3: R.Tensor((3, 5), dtype="float32") = R.where(one_more, R.const("-inf", "float32"), R.const(0.0, "float32"))
            z: R.Tensor((1, 3, 2, 8), dtype="float32") = R.nn.attention_bias(s, t, t, lv_3)
            lv_4: R.Tensor((1, 1, n, n), dtype="bool") = R.less_equal(row, column)
            few: R.Tensor((1, 1, n, n), dtype="float32") = R.where(lv_4, R.const(0.0, "float32"), R.const(-100.0, "float32"))
            v: R.Tensor((1, n, 2, 8), dtype="float32") = R.nn.attention_bias(q, q, q, few)
            R.output(w, x, y, z, v)
        return (w, x, y, z, v)
