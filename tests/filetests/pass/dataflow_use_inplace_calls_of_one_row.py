# test: pass
# run: dataflow_use_inplace_calls
# An extent of 1 has one place, whichever index names it.

@I.ir_module
class Module:
    @R.function
    def main(x: R.Tensor((1, 4), "float32"), b: R.Tensor((4,), "float32")) -> R.Tensor((1, 4), "float32"):
        with R.dataflow():
            y = R.exp(x)
            z = R.add(y, b)
            R.output(z)
        return z
# expect:
# from tvm.script import ir as I
# from tvm.script import tir as T
# from tvm.script import relax as R

@I.ir_module
class Module:
    @T.prim_func(private=True)
    def add_inplace(x1: T.Buffer((1, 4), "float32"), x2: T.Buffer((4,), "float32")):
        # with T.block("root"):
        for i0, i1 in T.grid(T.int64(1), T.int64(4)):
            with T.block("add"):
                v_i0, v_i1 = T.axis.remap("SS", [i0, i1])
                T.reads(x1[T.int64(0), v_i1], x2[v_i1])
                T.writes(x1[v_i0, v_i1])
                x1[v_i0, v_i1] = x1[T.int64(0), v_i1] + x2[v_i1]

    @R.function
    def main(x: R.Tensor((1, 4), dtype="float32"), b: R.Tensor((4,), dtype="float32")) -> R.Tensor((1, 4), dtype="float32"):
        cls = Module
        with R.dataflow():
            y: R.Tensor((1, 4), dtype="float32") = R.exp(x)
            z = R.call_tir_inplace(cls.add_inplace, (y, b), out_sinfo=R.Tensor((1, 4), dtype="float32"), inplace_indices=[0])
            R.output(z)
        return z
