# test: pass
# run: legalize_ops, rewrite_dataflow_reshape
# A result that leaves its dataflow block, or is in none, stays a call: a caller may have that memory already.

@I.ir_module
class Module:
    @R.function
    def main(x: R.Tensor((4, 6), "float32")):
        with R.dataflow():
            a = R.reshape(x, (2, 12))
            b = R.exp(a)
            c = R.reshape(b, (24,))
            R.output(c)
        d = R.expand_dims(c, [0])
        return d
# expect:
# from tvm.script import ir as I
# from tvm.script import tir as T
# from tvm.script import relax as R

@I.ir_module
class Module:
    @T.prim_func(private=True)
    def exp(x: T.Buffer((2, 12), "float32"), exp: T.Buffer((2, 12), "float32")):
        # with T.block("root"):
        for i0, i1 in T.grid(T.int64(2), T.int64(12)):
            with T.block("exp"):
                v_i0, v_i1 = T.axis.remap("SS", [i0, i1])
                T.reads(x[v_i0, v_i1])
                T.writes(exp[v_i0, v_i1])
                exp[v_i0, v_i1] = T.exp(x[v_i0, v_i1])

    @T.prim_func(private=True)
    def expand_dims(x: T.Buffer((24,), "float32"), expand_dims: T.Buffer((1, 24), "float32")):
        # with T.block("root"):
        for i0, i1 in T.grid(T.int64(1), T.int64(24)):
            with T.block("expand_dims"):
                v_i0, v_i1 = T.axis.remap("SS", [i0, i1])
                T.reads(x[v_i1])
                T.writes(expand_dims[v_i0, v_i1])
                expand_dims[v_i0, v_i1] = x[v_i1]

    @T.prim_func(private=True)
    def reshape(x: T.Buffer((4, 6), "float32"), reshape: T.Buffer((2, 12), "float32")):
        # with T.block("root"):
        for i0, i1 in T.grid(T.int64(2), T.int64(12)):
            with T.block("reshape"):
                v_i0, v_i1 = T.axis.remap("SS", [i0, i1])
                T.reads(x[(v_i0 * T.int64(12) + v_i1) // T.int64(6), (v_i0 * T.int64(12) + v_i1) % T.int64(6)])
                T.writes(reshape[v_i0, v_i1])
                reshape[v_i0, v_i1] = x[(v_i0 * T.int64(12) + v_i1) // T.int64(6), (v_i0 * T.int64(12) + v_i1) % T.int64(6)]

    @T.prim_func(private=True)
    def reshape1(x: T.Buffer((2, 12), "float32"), reshape: T.Buffer((24,), "float32")):
        # with T.block("root"):
        for i0 in range(T.int64(24)):
            with T.block("reshape"):
                v_i0 = T.axis.spatial(T.int64(24), i0)
                T.reads(x[v_i0 // T.int64(12), v_i0 % T.int64(12)])
                T.writes(reshape[v_i0])
                reshape[v_i0] = x[v_i0 // T.int64(12), v_i0 % T.int64(12)]

    @R.function
    def main(x: R.Tensor((4, 6), dtype="float32")) -> R.Tensor((1, 24), dtype="float32"):
        cls = Module
        with R.dataflow():
            a: R.Tensor((2, 12), dtype="float32") = R.reshape(x, R.shape([2, 12]))
            b = R.call_tir(cls.exp, (a,), out_sinfo=R.Tensor((2, 12), dtype="float32"))
            c = R.call_tir(cls.reshape1, (b,), out_sinfo=R.Tensor((24,), dtype="float32"))
            R.output(c)
        d = R.call_tir(cls.expand_dims, (c,), out_sinfo=R.Tensor((1, 24), dtype="float32"))
        return d
