# test: pass
# run: legalize_ops, annotate_tir_op_pattern, fuse_reductions, fuse_tir, dead_code_elimination
# A reduction that names what it compares takes what follows in its rows, as others do.

@I.ir_module
class Module:
    @R.function
    def main(x: R.Tensor((3, 5), "float32"), s: R.Tensor((3,), "int64")):
        with R.dataflow():
            a = R.argmax(x, axis=1)
            b = R.add(a, s)
            R.output(b)
        return b
# expect:
# from tvm.script import ir as I
# from tvm.script import tir as T
# from tvm.script import relax as R

@I.ir_module
class Module:
    @T.prim_func(private=True)
    def fused_argmax_add(x: T.Buffer((3, 5), "float32"), s: T.Buffer((3,), "int64"), b: T.Buffer((3,), "int64")):
        T.func_attr({"tir.noalias": True})
        # with T.block("root"):
        argmax_v0_intermediate = T.alloc_buffer((3,), "int64")
        argmax_v1 = T.alloc_buffer((3,))
        for i0, k0 in T.grid(T.int64(3), T.int64(5)):
            with T.block("argmax"):
                v_i0, v_k0 = T.axis.remap("SR", [i0, k0])
                T.reads(x[v_i0, v_k0])
                T.writes(argmax_v0_intermediate[v_i0], argmax_v1[v_i0])
                with T.init():
                    v_argmax_v0: T.int64 = T.int64(5)
                    v_argmax_v1: T.float32 = T.float32("-inf")
                    argmax_v0_intermediate[v_i0] = v_argmax_v0
                    argmax_v1[v_i0] = v_argmax_v1
                v_argmax_v0: T.int64 = T.Select(argmax_v1[v_i0] > x[v_i0, v_k0] or T.isnan(argmax_v1[v_i0]) and not T.isnan(x[v_i0, v_k0]) or (argmax_v1[v_i0] == x[v_i0, v_k0] or T.isnan(argmax_v1[v_i0]) and T.isnan(x[v_i0, v_k0])) and argmax_v0_intermediate[v_i0] < v_k0, argmax_v0_intermediate[v_i0], v_k0)
                v_argmax_v1: T.float32 = T.Select(argmax_v1[v_i0] > x[v_i0, v_k0] or T.isnan(argmax_v1[v_i0]) and not T.isnan(x[v_i0, v_k0]) or (argmax_v1[v_i0] == x[v_i0, v_k0] or T.isnan(argmax_v1[v_i0]) and T.isnan(x[v_i0, v_k0])) and argmax_v0_intermediate[v_i0] < v_k0, argmax_v1[v_i0], x[v_i0, v_k0])
                argmax_v0_intermediate[v_i0] = v_argmax_v0
                argmax_v1[v_i0] = v_argmax_v1
        for i0 in range(T.int64(3)):
            with T.block("add"):
                v_i0 = T.axis.spatial(T.int64(3), i0)
                T.reads(argmax_v0_intermediate[v_i0], s[v_i0])
                T.writes(b[v_i0])
                b[v_i0] = argmax_v0_intermediate[v_i0] + s[v_i0]

    @R.function
    def main(x: R.Tensor((3, 5), dtype="float32"), s: R.Tensor((3,), dtype="int64")) -> R.Tensor((3,), dtype="int64"):
        cls = Module
        with R.dataflow():
            b = R.call_tir(cls.fused_argmax_add, (x, s), out_sinfo=R.Tensor((3,), dtype="int64"))
            R.output(b)
        return b
