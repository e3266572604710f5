# test: pass
# run: legalize_ops
# Nobody says what the padding holds: it is 0.

@I.ir_module
class Module:
    @R.function
    def main(x: R.Tensor((6,), "float32")):
        y = R.layout_transform(x, index_map=lambda i: (i // 4, i % 4))
        return y
# expect:
# from tvm.script import ir as I
# from tvm.script import tir as T
# from tvm.script import relax as R

@I.ir_module
class Module:
    @T.prim_func(private=True)
    def layout_transform(x: T.Buffer((6,), "float32"), layout_transform: T.Buffer((2, 4), "float32")):
        # with T.block("root"):
        for i0, i1 in T.grid(T.int64(2), T.int64(4)):
            with T.block("layout_transform"):
                v_i0, v_i1 = T.axis.remap("SS", [i0, i1])
                T.reads(x[v_i0 * T.int64(4) + v_i1])
                T.writes(layout_transform[v_i0, v_i1])
                layout_transform[v_i0, v_i1] = T.if_then_else(v_i0 * T.int64(4) + v_i1 < T.int64(6), x[v_i0 * T.int64(4) + v_i1], T.float32(0))

    @R.function
    def main(x: R.Tensor((6,), dtype="float32")) -> R.Tensor((2, 4), dtype="float32"):
        cls = Module
        y = R.call_tir(cls.layout_transform, (x,), out_sinfo=R.Tensor((2, 4), dtype="float32"))
        return y
