# test: pass
# run: legalize_ops, annotate_tir_op_pattern, fuse_ops, fuse_tir
# Scalars of unknown value are arguments of the fused program.

@I.ir_module
class Module:
    @R.function(private=True)
    def scaled(x: R.Tensor((4,), "float32"), low: R.Prim("float32"), k: R.Prim("float32")) -> R.Tensor((4,), "float32"):
        with R.dataflow():
            a = R.multiply(x, k)
            b = R.clip(a, low, 0.5)
            c = R.add(b, k)
            R.output(c)
        return c

    @R.function
    def main(x: R.Tensor((4,), "float32")) -> R.Tensor((4,), "float32"):
        cls = Module
        a = cls.scaled(x, R.prim_value(T.float32(-0.25)), R.prim_value(T.float32(2.0)))
        return a
# expect:
# from tvm.script import ir as I
# from tvm.script import tir as T
# from tvm.script import relax as R

@I.ir_module
class Module:
    @T.prim_func(private=True)
    def fused_multiply_clip_add(x: T.Buffer((4,), "float32"), k: T.float32, low: T.float32, c: T.Buffer((4,), "float32")):
        T.func_attr({"tir.noalias": True})
        # with T.block("root"):
        multiply_intermediate = T.alloc_buffer((4,))
        clip_intermediate = T.alloc_buffer((4,))
        for i0 in range(T.int64(4)):
            with T.block("multiply"):
                v_i0 = T.axis.spatial(T.int64(4), i0)
                T.reads(x[v_i0])
                T.writes(multiply_intermediate[v_i0])
                multiply_intermediate[v_i0] = x[v_i0] * k
        for i0 in range(T.int64(4)):
            with T.block("clip"):
                v_i0 = T.axis.spatial(T.int64(4), i0)
                T.reads(multiply_intermediate[v_i0])
                T.writes(clip_intermediate[v_i0])
                clip_intermediate[v_i0] = T.min(T.max(multiply_intermediate[v_i0], low), T.float32(0.5))
        for i0 in range(T.int64(4)):
            with T.block("add"):
                v_i0 = T.axis.spatial(T.int64(4), i0)
                T.reads(clip_intermediate[v_i0])
                T.writes(c[v_i0])
                c[v_i0] = clip_intermediate[v_i0] + k

    @R.function
    def main(x: R.Tensor((4,), dtype="float32")) -> R.Tensor((4,), dtype="float32"):
        cls = Module
        a: R.Tensor((4,), dtype="float32") = cls.scaled(x, R.prim_value(T.float32(-0.25)), R.prim_value(T.float32(2)))
        return a

    @R.function(private=True)
    def scaled(x: R.Tensor((4,), dtype="float32"), low: R.Prim("float32"), k: R.Prim("float32")) -> R.Tensor((4,), dtype="float32"):
        cls = Module
        with R.dataflow():
            c = R.call_tir(cls.fused_multiply_clip_add, (x, k, low), out_sinfo=R.Tensor((4,), dtype="float32"))
            R.output(c)
        return c
