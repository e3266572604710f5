# test: pass
# run: legalize_ops
# Messages are those of functions of the host.

@I.ir_module
class Module:
    @R.function(pure=False)
    def main(x: R.Tensor((2, 3), "float32")) -> R.Tensor((2, 3), "float32"):
        y = R.exp(x)
        R.print(y, format="y = {}")
        R.assert_op(R.const(True, "bool"), y, format="no {}")
        return y
# expect:
# from tvm.script import ir as I
# from tvm.script import tir as T
# from tvm.script import relax as R

@I.ir_module
class Module:
    @T.prim_func(private=True)
    def exp(x: T.Buffer((2, 3), "float32"), exp: T.Buffer((2, 3), "float32")):
        # with T.block("root"):
        for i0, i1 in T.grid(T.int64(2), T.int64(3)):
            with T.block("exp"):
                v_i0, v_i1 = T.axis.remap("SS", [i0, i1])
                T.reads(x[v_i0, v_i1])
                T.writes(exp[v_i0, v_i1])
                exp[v_i0, v_i1] = T.exp(x[v_i0, v_i1])

    @R.function(pure=False)
    def main(x: R.Tensor((2, 3), dtype="float32")) -> R.Tensor((2, 3), dtype="float32"):
        cls = Module
        y = R.call_tir(cls.exp, (x,), out_sinfo=R.Tensor((2, 3), dtype="float32"))
        R.call_packed("relax.run.print", R.str("y = {}"), y, sinfo_args=(R.Tuple(),))
        R.call_packed("relax.run.assert_op", R.const(True, "bool"), R.str("no {}"), y, sinfo_args=(R.Tuple(),))
        return y
