# test: pass
# run: legalize_ops
# Operators that compute the same share a program, and an operand that only gives a shape is passed to none.

@I.ir_module
class Module:
    @R.function
    def main(x: R.Tensor((2, 3), "float32")):
        with R.dataflow():
            a = R.zeros_like(x)
            b = R.zeros(R.shape([2, 3]), "float32")
            c = R.reshape(x, R.shape([6]))
            d = R.flatten(x)
            R.output(a, b, c, d)
        return (a, b, c, d)
# expect:
# from tvm.script import ir as I
# from tvm.script import tir as T
# from tvm.script import relax as R

@I.ir_module
class Module:
    @T.prim_func(private=True)
    def reshape(x: T.Buffer((2, 3), "float32"), reshape: T.Buffer((6,), "float32")):
        # with T.block("root"):
        for i0 in range(T.int64(6)):
            with T.block("reshape"):
                v_i0 = T.axis.spatial(T.int64(6), i0)
                T.reads(x[v_i0 // T.int64(3), v_i0 % T.int64(3)])
                T.writes(reshape[v_i0])
                reshape[v_i0] = x[v_i0 // T.int64(3), v_i0 % T.int64(3)]

    @T.prim_func(private=True)
    def zeros(zeros: T.Buffer((2, 3), "float32")):
        # with T.block("root"):
        for i0, i1 in T.grid(T.int64(2), T.int64(3)):
            with T.block("zeros"):
                v_i0, v_i1 = T.axis.remap("SS", [i0, i1])
                T.reads()
                T.writes(zeros[v_i0, v_i1])
                zeros[v_i0, v_i1] = T.float32(0)

    @R.function
    def main(x: R.Tensor((2, 3), dtype="float32")) -> R.Tuple(R.Tensor((2, 3), dtype="float32"), R.Tensor((2, 3), dtype="float32"), R.Tensor((6,), dtype="float32"), R.Tensor((6,), dtype="float32")):
        cls = Module
        with R.dataflow():
            a = R.call_tir(cls.zeros, (), out_sinfo=R.Tensor((2, 3), dtype="float32"))
            b = R.call_tir(cls.zeros, (), out_sinfo=R.Tensor((2, 3), dtype="float32"))
            c = R.call_tir(cls.reshape, (x,), out_sinfo=R.Tensor((6,), dtype="float32"))
            d = R.call_tir(cls.reshape, (x,), out_sinfo=R.Tensor((6,), dtype="float32"))
            R.output(a, b, c, d)
        return (a, b, c, d)
