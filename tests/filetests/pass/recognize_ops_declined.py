# test: pass
# run: recognize_ops
# What nearly is an operator stays: other numbers, other users, other values, other dimensions, masks that replace scores.

@I.ir_module
class Module:
    @R.function
    def main(x: R.Tensor((2, 4), "float32"), y: R.Tensor((2, 4), "float32"), q: R.Tensor((2, 3, 4, 4), "float32"), c: R.Tensor((4, 4), "bool"), s: R.Tensor((), "float32")):
        with R.dataflow():
            a = R.erf(R.divide(x, R.const(1.4, "float32")))
            a1 = R.multiply(R.multiply(x, R.add(a, R.const(1.0, "float32"))), R.const(0.5, "float32"))
            b = R.erf(R.divide(x, R.const(1.4142135, "float32")))
            b1 = R.multiply(R.multiply(y, R.add(b, R.const(1.0, "float32"))), R.const(0.5, "float32"))
            d = R.subtract(x, R.mean(x, axis=[0], keepdims=True))
            d1 = R.mean(R.multiply(d, d), axis=[1], keepdims=True)
            d2 = R.divide(d, R.sqrt(R.add(d1, R.const(0.001, "float32"))))
            e = R.mean(R.multiply(x, x), axis=[1], keepdims=True)
            e1 = R.divide(x, R.sqrt(R.add(e, R.const(0.001, "float32"))))
            p = R.matmul(q, q)
            p1 = R.nn.softmax(R.where(c, p, R.const(-1000.0, "float32")), axis=3)
            p2 = R.matmul(p1, q)
            r = R.nn.softmax(R.multiply(R.matmul(q, q), s), axis=3)
            r1 = R.matmul(r, q)
            t = R.nn.softmax(R.matmul(q, q), axis=2)
            t1 = R.matmul(t, q)
            R.output(a1, b1, d, d2, e, e1, p2, r1, t1)
        return (a1, b1, d, d2, e, e1, p2, r1, t1)
# expect:
# from tvm.script import ir as I
# from tvm.script import relax as R

@I.ir_module
class Module:
    @R.function
    def main(x: R.Tensor((2, 4), dtype="float32"), y: R.Tensor((2, 4), dtype="float32"), q: R.Tensor((2, 3, 4, 4), dtype="float32"), c: R.Tensor((4, 4), dtype="bool"), s: R.Tensor((), dtype="float32")) -> R.Tuple(R.Tensor((2, 4), dtype="float32"), R.Tensor((2, 4), dtype="float32"), R.Tensor((2, 4), dtype="float32"), R.Tensor((2, 4), dtype="float32"), R.Tensor((2, 1), dtype="float32"), R.Tensor((2, 4), dtype="float32"), R.Tensor((2, 3, 4, 4), dtype="float32"), R.Tensor((2, 3, 4, 4), dtype="float32"), R.Tensor((2, 3, 4, 4), dtype="float32")):
        with R.dataflow():
            lv: R.Tensor((2, 4), dtype="float32") = R.divide(x, R.const(1.4, "float32"))
            a: R.Tensor((2, 4), dtype="float32") = R.erf(lv)
            lv_1: R.Tensor((2, 4), dtype="float32") = R.add(a, R.const(1.0, "float32"))
            lv_2: R.Tensor((2, 4), dtype="float32") = R.multiply(x, lv_1)
            a1: R.Tensor((2, 4), dtype="float32") = R.multiply(lv_2, R.const(0.5, "float32"))
            lv_3: R.Tensor((2, 4), dtype="float32") = R.divide(x, R.const(1.4142135, "float32"))
            b: R.Tensor((2, 4), dtype="float32") = R.erf(lv_3)
            lv_4: R.Tensor((2, 4), dtype="float32") = R.add(b, R.const(1.0, "float32"))
            lv_5: R.Tensor((2, 4), dtype="float32") = R.multiply(y, lv_4)
            b1: R.Tensor((2, 4), dtype="float32") = R.multiply(lv_5, R.const(0.5, "float32"))
            lv_6: R.Tensor((1, 4), dtype="float32") = R.mean(x, axis=[0], keepdims=True)
            d: R.Tensor((2, 4), dtype="float32") = R.subtract(x, lv_6)
            lv_7: R.Tensor((4,), dtype="float32") = R.ones(R.shape([4]), dtype=R.dtype("float32"))
            d2: R.Tensor((2, 4), dtype="float32") = R.nn.rms_norm(d, lv_7, axes=[1], epsilon=0.0010000000474974513)
            lv_8: R.Tensor((2, 4), dtype="float32") = R.multiply(x, x)
            e: R.Tensor((2, 1), dtype="float32") = R.mean(lv_8, axis=[1], keepdims=True)
            lv_9: R.Tensor((2, 1), dtype="float32") = R.add(e, R.const(0.001, "float32"))
            lv_10: R.Tensor((2, 1), dtype="float32") = R.sqrt(lv_9)
            e1: R.Tensor((2, 4), dtype="float32") = R.divide(x, lv_10)
            p: R.Tensor((2, 3, 4, 4), dtype="float32") = R.matmul(q, q)
            lv_11: R.Tensor((2, 3, 4, 4), dtype="float32") = R.where(c, p, R.const(-1000.0, "float32"))
            p1: R.Tensor((2, 3, 4, 4), dtype="float32") = R.nn.softmax(lv_11, axis=3)
            p2: R.Tensor((2, 3, 4, 4), dtype="float32") = R.matmul(p1, q)
            lv_12: R.Tensor((2, 3, 4, 4), dtype="float32") = R.matmul(q, q)
            lv_13: R.Tensor((2, 3, 4, 4), dtype="float32") = R.multiply(lv_12, s)
            r: R.Tensor((2, 3, 4, 4), dtype="float32") = R.nn.softmax(lv_13, axis=3)
            r1: R.Tensor((2, 3, 4, 4), dtype="float32") = R.matmul(r, q)
            lv_14: R.Tensor((2, 3, 4, 4), dtype="float32") = R.matmul(q, q)
            t: R.Tensor((2, 3, 4, 4), dtype="float32") = R.nn.softmax(lv_14, axis=2)
            t1: R.Tensor((2, 3, 4, 4), dtype="float32") = R.matmul(t, q)
            R.output(a1, b1, d, d2, e, e1, p2, r1, t1)
        return (a1, b1, d, d2, e, e1, p2, r1, t1)
