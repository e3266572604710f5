# test: pass
# run: legalize_ops, annotate_tir_op_pattern, fuse_ops, dead_code_elimination
# A group stands after the check that defines the size in it, though its first member stood before.

@I.ir_module
class Module:
    @R.function
    def main(y: R.Tensor((), "float32"), t: R.Tensor((1,), "int64")):
        n = T.int64()
        with R.dataflow():
            a = R.negative(y)
            s = R.tensor_to_shape(t)
            q = R.match_cast(s, R.Shape([n]))
            r = R.arange(R.prim_value(n), dtype="float32")
            z = R.multiply(r, a)
            R.output(z)
        return z
# expect:
# from tvm.script import ir as I
# from tvm.script import tir as T
# from tvm.script import relax as R

@I.ir_module
class Module:
    @T.prim_func(private=True)
    def arange(var_arange: T.handle):
        T.func_attr({"op_pattern": 0})
        n = T.int64()
        arange = T.match_buffer(var_arange, (n,))
        # with T.block("root"):
        for i0 in range(n):
            with T.block("arange"):
                v_i0 = T.axis.spatial(n, i0)
                T.reads()
                T.writes(arange[v_i0])
                arange[v_i0] = T.Cast("float32", T.int64(0) + v_i0 * T.int64(1))

    @T.prim_func(private=True)
    def multiply(var_x1: T.handle, x2: T.Buffer((), "float32"), var_multiply: T.handle):
        T.func_attr({"op_pattern": 0})
        n = T.int64()
        x1 = T.match_buffer(var_x1, (n,))
        multiply = T.match_buffer(var_multiply, (n,))
        # with T.block("root"):
        for i0 in range(n):
            with T.block("multiply"):
                v_i0 = T.axis.spatial(n, i0)
                T.reads(x1[v_i0], x2[()])
                T.writes(multiply[v_i0])
                multiply[v_i0] = x1[v_i0] * x2[()]

    @T.prim_func(private=True)
    def negative(x: T.Buffer((), "float32"), negative: T.Buffer((), "float32")):
        T.func_attr({"op_pattern": 0})
        # with T.block("root"):
        with T.block("negative"):
            T.reads(x[()])
            T.writes(negative[()])
            negative[()] = x[()] * T.float32(-1)

    @R.function(private=True)
    def fused_negative_arange_multiply(y: R.Tensor((), dtype="float32"), tir_vars: R.Shape(["n"])) -> R.Tensor(("n",), dtype="float32"):
        n = T.int64()
        R.func_attr({"Primitive": True})
        cls = Module
        with R.dataflow():
            a = R.call_tir(cls.negative, (y,), out_sinfo=R.Tensor((), dtype="float32"))
            r = R.call_tir(cls.arange, (), out_sinfo=R.Tensor((n,), dtype="float32"))
            z = R.call_tir(cls.multiply, (r, a), out_sinfo=R.Tensor((n,), dtype="float32"))
            R.output(z)
        return z

    @R.function
    def main(y: R.Tensor((), dtype="float32"), t: R.Tensor((1,), dtype="int64")) -> R.Tensor(dtype="float32", ndim=1):
        n = T.int64()
        cls = Module
        with R.dataflow():
            s: R.Shape(ndim=1) = R.call_pure_packed("vm.builtin.tensor_to_shape", t, sinfo_args=(R.Shape(ndim=1),))
            q: R.Shape([n]) = R.match_cast(s, R.Shape([n]))
            z: R.Tensor((n,), dtype="float32") = cls.fused_negative_arange_multiply(y, R.shape([n]))
            R.output(z)
        return z
