# test: pass
# run: recognize_ops
# Attention whose batches and heads are one dimension, with a mask for each; of heads before the sequence, with a mask for all; and one whose
# mask is for each batch alone, which stays.

@I.ir_module
class Module:
    @R.function
    def main(q: R.Tensor(("b", "n", 8), "float32"), k: R.Tensor(("b", "m", 8), "float32"), v: R.Tensor(("b", "m", 4), "float32"), mask: R.Tensor(("b", "n", "m"), "float32"), x: R.Tensor((2, 3, 5, 8), "float32"), of_all: R.Tensor((5, 5), "float32"), of_batch: R.Tensor((2, 1, 5, 5), "float32")):
        with R.dataflow():
            s = R.matmul(q, R.permute_dims(k, axes=[0, 2, 1]))
            y = R.matmul(R.nn.softmax(R.add(s, mask), axis=-1), v)
            t = R.multiply(R.matmul(x, R.permute_dims(x, axes=[0, 1, 3, 2])), R.const(0.5, "float32"))
            z = R.matmul(R.nn.softmax(R.add(t, of_all), axis=3), x)
            u = R.matmul(x, R.permute_dims(x, axes=[0, 1, 3, 2]))
            w = R.matmul(R.nn.softmax(R.add(u, of_batch), axis=3), x)
            R.output(y, z, w)
        return (y, z, w)
# expect:
# from tvm.script import ir as I
# from tvm.script import tir as T
# from tvm.script import relax as R

@I.ir_module
class Module:
    @R.function
    def main(q: R.Tensor(("b", "n", 8), dtype="float32"), k: R.Tensor(("b", "m", 8), dtype="float32"), v: R.Tensor(("b", "m", 4), dtype="float32"), mask: R.Tensor(("b", "n", "m"), dtype="float32"), x: R.Tensor((2, 3, 5, 8), dtype="float32"), of_all: R.Tensor((5, 5), dtype="float32"), of_batch: R.Tensor((2, 1, 5, 5), dtype="float32")) -> R.Tuple(R.Tensor(("b", "n", 4), dtype="float32"), R.Tensor((2, 3, 5, 8), dtype="float32"), R.Tensor((2, 3, 5, 8), dtype="float32")):
        b = T.int64()
        m = T.int64()
        n = T.int64()
        with R.dataflow():
            lv: R.Tensor((b, 1, n, m), dtype="float32") = R.reshape(mask, R.shape([b, 1, n, m]))
            lv_1: R.Tensor((b, n, 1, 8), dtype="float32") = R.reshape(q, R.shape([b, n, 1, 8]))
            lv_2: R.Tensor((b, m, 1, 8), dtype="float32") = R.reshape(k, R.shape([b, m, 1, 8]))
            lv_3: R.Tensor((b, m, 1, 4), dtype="float32") = R.reshape(v, R.shape([b, m, 1, 4]))
            lv_4: R.Tensor((b, n, 1, 4), dtype="float32") = R.nn.attention_bias(lv_1, lv_2, lv_3, lv, scale=1.0)
            y: R.Tensor((b, n, 4), dtype="float32") = R.reshape(lv_4, R.shape([b, n, 4]))
            lv_5: R.Tensor((T.Mul(T.int64(2), T.int64(3)), 5, 1, 8), dtype="float32") = R.reshape(x, R.shape([T.Mul(T.int64(2), T.int64(3)), 5, 1, 8]))
            lv_6: R.Tensor((T.Mul(T.int64(2), T.int64(3)), 5, 1, 8), dtype="float32") = R.reshape(x, R.shape([T.Mul(T.int64(2), T.int64(3)), 5, 1, 8]))
            lv_7: R.Tensor((T.Mul(T.int64(2), T.int64(3)), 5, 1, 8), dtype="float32") = R.reshape(x, R.shape([T.Mul(T.int64(2), T.int64(3)), 5, 1, 8]))
            lv_8: R.Tensor((T.Mul(T.int64(2), T.int64(3)), 5, 1, 8), dtype="float32") = R.nn.attention_bias(lv_5, lv_6, lv_7, of_all, scale=0.5)
            z: R.Tensor((2, 3, 5, 8), dtype="float32") = R.reshape(lv_8, R.shape([2, 3, 5, 8]))
            lv_9: R.Tensor((2, 3, 8, 5), dtype="float32") = R.permute_dims(x, axes=[0, 1, 3, 2])
            u: R.Tensor((2, 3, 5, 5), dtype="float32") = R.matmul(x, lv_9)
            lv_10: R.Tensor((2, 3, 5, 5), dtype="float32") = R.add(u, of_batch)
            lv_11: R.Tensor((2, 3, 5, 5), dtype="float32") = R.nn.softmax(lv_10, axis=3)
            w: R.Tensor((2, 3, 5, 8), dtype="float32") = R.matmul(lv_11, x)
            R.output(y, z, w)
        return (y, z, w)
