# test: pass
# run: legalize_ops, annotate_tir_op_pattern, fuse_ops
# A reduction that names what it compares takes its operand's computation, as others do.

@I.ir_module
class Module:
    @R.function
    def main(x: R.Tensor((3, 5), "float32")):
        with R.dataflow():
            a = R.negative(x)
            b = R.argmax(a, axis=1)
            R.output(b)
        return b
# expect:
# from tvm.script import ir as I
# from tvm.script import tir as T
# from tvm.script import relax as R

@I.ir_module
class Module:
    @T.prim_func(private=True)
    def argmax(x: T.Buffer((3, 5), "float32"), argmax_v0: T.Buffer((3,), "int64")):
        T.func_attr({"op_pattern": 3})
        # with T.block("root"):
        argmax_v1 = T.alloc_buffer((3,))
        for i0, k0 in T.grid(T.int64(3), T.int64(5)):
            with T.block("argmax"):
                v_i0, v_k0 = T.axis.remap("SR", [i0, k0])
                T.reads(x[v_i0, v_k0])
                T.writes(argmax_v0[v_i0], argmax_v1[v_i0])
                with T.init():
                    v_argmax_v0: T.int64 = T.int64(5)
                    v_argmax_v1: T.float32 = T.float32("-inf")
                    argmax_v0[v_i0] = v_argmax_v0
                    argmax_v1[v_i0] = v_argmax_v1
                v_argmax_v0: T.int64 = T.Select(argmax_v1[v_i0] > x[v_i0, v_k0] or T.isnan(argmax_v1[v_i0]) and not T.isnan(x[v_i0, v_k0]) or (argmax_v1[v_i0] == x[v_i0, v_k0] or T.isnan(argmax_v1[v_i0]) and T.isnan(x[v_i0, v_k0])) and argmax_v0[v_i0] < v_k0, argmax_v0[v_i0], v_k0)
                v_argmax_v1: T.float32 = T.Select(argmax_v1[v_i0] > x[v_i0, v_k0] or T.isnan(argmax_v1[v_i0]) and not T.isnan(x[v_i0, v_k0]) or (argmax_v1[v_i0] == x[v_i0, v_k0] or T.isnan(argmax_v1[v_i0]) and T.isnan(x[v_i0, v_k0])) and argmax_v0[v_i0] < v_k0, argmax_v1[v_i0], x[v_i0, v_k0])
                argmax_v0[v_i0] = v_argmax_v0
                argmax_v1[v_i0] = v_argmax_v1

    @T.prim_func(private=True)
    def negative(x: T.Buffer((3, 5), "float32"), negative: T.Buffer((3, 5), "float32")):
        T.func_attr({"op_pattern": 0})
        # with T.block("root"):
        for i0, i1 in T.grid(T.int64(3), T.int64(5)):
            with T.block("negative"):
                v_i0, v_i1 = T.axis.remap("SS", [i0, i1])
                T.reads(x[v_i0, v_i1])
                T.writes(negative[v_i0, v_i1])
                negative[v_i0, v_i1] = x[v_i0, v_i1] * T.float32(-1)

    @R.function(private=True)
    def fused_negative_argmax(x: R.Tensor((3, 5), dtype="float32")) -> R.Tensor((3,), dtype="int64"):
        R.func_attr({"Primitive": True})
        cls = Module
        with R.dataflow():
            a = R.call_tir(cls.negative, (x,), out_sinfo=R.Tensor((3, 5), dtype="float32"))
            b = R.call_tir(cls.argmax, (a,), out_sinfo=R.Tensor((3,), dtype="int64"))
            R.output(b)
        return b

    @R.function
    def main(x: R.Tensor((3, 5), dtype="float32")) -> R.Tensor((3,), dtype="int64"):
        cls = Module
        with R.dataflow():
            b: R.Tensor((3,), dtype="int64") = cls.fused_negative_argmax(x)
            R.output(b)
        return b
