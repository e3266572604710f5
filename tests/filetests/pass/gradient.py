# test: pass
# run: gradient {"func_name": "main", "require_grads": ["x", "w", "unused"]}
# `x` is used twice: its adjoints are added. What was broadcast is summed. Of the tuple one element has an adjoint, the other one zeros.

@I.ir_module
class Module:
    @R.function
    def main(x: R.Tensor((3, 4), "float32"), w: R.Tensor((4,), "float32"), unused: R.Tensor((2,), "float32")) -> R.Tensor((), "float32"):
        with R.dataflow():
            a = R.multiply(x, w)
            s = R.split(a, 2, axis=1)
            b = s[1]
            c = R.sum(b)
            d = R.sum(x)
            l = R.multiply(c, d)
            R.output(l)
        return l
# expect:
# from tvm.script import ir as I
# from tvm.script import relax as R

@I.ir_module
class Module:
    @R.function
    def main(x: R.Tensor((3, 4), dtype="float32"), w: R.Tensor((4,), dtype="float32"), unused: R.Tensor((2,), dtype="float32")) -> R.Tensor((), dtype="float32"):
        with R.dataflow():
            a: R.Tensor((3, 4), dtype="float32") = R.multiply(x, w)
            s: R.Tuple(R.Tensor((3, 2), dtype="float32"), R.Tensor((3, 2), dtype="float32")) = R.split(a, indices_or_sections=2, axis=1)
            b: R.Tensor((3, 2), dtype="float32") = s[1]
            c: R.Tensor((), dtype="float32") = R.sum(b, keepdims=False)
            d: R.Tensor((), dtype="float32") = R.sum(x, keepdims=False)
            l: R.Tensor((), dtype="float32") = R.multiply(c, d)
            R.output(l)
        return l

    @R.function
    def main_adjoint(x: R.Tensor((3, 4), dtype="float32"), w: R.Tensor((4,), dtype="float32"), unused: R.Tensor((2,), dtype="float32")) -> R.Tuple(R.Tensor((), dtype="float32"), R.Tuple(R.Tensor((3, 4), dtype="float32"), R.Tensor((4,), dtype="float32"), R.Tensor((2,), dtype="float32"))):
        with R.dataflow():
            a: R.Tensor((3, 4), dtype="float32") = R.multiply(x, w)
            s: R.Tuple(R.Tensor((3, 2), dtype="float32"), R.Tensor((3, 2), dtype="float32")) = R.split(a, indices_or_sections=2, axis=1)
            b: R.Tensor((3, 2), dtype="float32") = s[1]
            c: R.Tensor((), dtype="float32") = R.sum(b, keepdims=False)
            d: R.Tensor((), dtype="float32") = R.sum(x, keepdims=False)
            l: R.Tensor((), dtype="float32") = R.multiply(c, d)
            l_adjoint: R.Tensor((), dtype="float32") = R.ones(R.shape([]), dtype=R.dtype("float32"))
            c_adjoint: R.Tensor((), dtype="float32") = R.multiply(l_adjoint, d)
            d_adjoint: R.Tensor((), dtype="float32") = R.multiply(l_adjoint, c)
            x_adjoint: R.Tensor((3, 4), dtype="float32") = R.broadcast_to(d_adjoint, R.shape([3, 4]))
            b_adjoint: R.Tensor((3, 2), dtype="float32") = R.broadcast_to(c_adjoint, R.shape([3, 2]))
            lv: R.Tensor((3, 2), dtype="float32") = R.zeros(R.shape([3, 2]), dtype=R.dtype("float32"))
            s_adjoint: R.Tuple(R.Tensor((3, 2), dtype="float32"), R.Tensor((3, 2), dtype="float32")) = (lv, b_adjoint)
            a_adjoint: R.Tensor((3, 4), dtype="float32") = R.concat(s_adjoint, axis=1)
            lv_1: R.Tensor((3, 4), dtype="float32") = R.multiply(a_adjoint, x)
            lv_2: R.Tensor((3, 4), dtype="float32") = R.multiply(a_adjoint, w)
            x_adjoint_1: R.Tensor((3, 4), dtype="float32") = R.add(x_adjoint, lv_2)
            w_adjoint: R.Tensor((4,), dtype="float32") = R.collapse_sum_to(lv_1, R.shape([4]))
            x_adjoint_out: R.Tensor((3, 4), dtype="float32") = x_adjoint_1
            w_adjoint_out: R.Tensor((4,), dtype="float32") = w_adjoint
            unused_adjoint: R.Tensor((2,), dtype="float32") = R.zeros(R.shape([2]), dtype=R.dtype("float32"))
            unused_adjoint_out: R.Tensor((2,), dtype="float32") = unused_adjoint
            R.output(l, x_adjoint_out, w_adjoint_out, unused_adjoint_out)
        return (l, (x_adjoint_out, w_adjoint_out, unused_adjoint_out))
