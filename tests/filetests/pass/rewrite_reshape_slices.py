# test: pass
# run: legalize_ops, rewrite_reshape
# The first channels of one image lie in memory as a tensor of their shape does, and are no reshape of the image.

@I.ir_module
class Module:
    @R.function
    def main(x: R.Tensor((1, 4, 2), "float32")):
        with R.dataflow():
            y = R.strided_slice(x, [1], [0], [2])
            R.output(y)
        return y
# expect:
# from tvm.script import ir as I
# from tvm.script import tir as T
# from tvm.script import relax as R

@I.ir_module
class Module:
    @T.prim_func(private=True)
    def strided_slice(x: T.Buffer((1, 4, 2), "float32"), strided_slice: T.Buffer((1, 2, 2), "float32")):
        # with T.block("root"):
        for i0, i1, i2 in T.grid(T.int64(1), T.int64(2), T.int64(2)):
            with T.block("strided_slice"):
                v_i0, v_i1, v_i2 = T.axis.remap("SSS", [i0, i1, i2])
                T.reads(x[v_i0, v_i1 + T.int64(0), v_i2])
                T.writes(strided_slice[v_i0, v_i1, v_i2])
                strided_slice[v_i0, v_i1, v_i2] = x[v_i0, v_i1 + T.int64(0), v_i2]

    @R.function
    def main(x: R.Tensor((1, 4, 2), dtype="float32")) -> R.Tensor((1, 2, 2), dtype="float32"):
        cls = Module
        with R.dataflow():
            y = R.call_tir(cls.strided_slice, (x,), out_sinfo=R.Tensor((1, 2, 2), dtype="float32"))
            R.output(y)
        return y
