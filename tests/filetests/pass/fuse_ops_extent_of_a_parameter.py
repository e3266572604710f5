# test: pass
# run: legalize_ops, annotate_tir_op_pattern, fuse_ops, dead_code_elimination
# A check that a size is the extent of a parameter stands after what defines that size: it does not define the extent.

@I.ir_module
class Module:
    @R.function
    def main(y: R.Tensor(("m",), "float32"), t: R.Tensor((1,), "int64")):
        m = T.int64()
        n = T.int64()
        with R.dataflow():
            a = R.negative(y)
            b = R.exp(a)
            s = R.tensor_to_shape(t)
            q = R.match_cast(s, R.Shape([n]))
            r = R.arange(R.prim_value(n), dtype="float32")
            z = R.multiply(b, r)
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
    def exp(var_x: T.handle, var_exp: T.handle):
        T.func_attr({"op_pattern": 0})
        m = T.int64()
        x = T.match_buffer(var_x, (m,))
        exp = T.match_buffer(var_exp, (m,))
        # with T.block("root"):
        for i0 in range(m):
            with T.block("exp"):
                v_i0 = T.axis.spatial(m, i0)
                T.reads(x[v_i0])
                T.writes(exp[v_i0])
                exp[v_i0] = T.exp(x[v_i0])

    @T.prim_func(private=True)
    def multiply(var_x1: T.handle, var_x2: T.handle, var_multiply: T.handle):
        T.func_attr({"op_pattern": 0})
        m = T.int64()
        x1 = T.match_buffer(var_x1, (m,))
        n = T.int64()
        x2 = T.match_buffer(var_x2, (n,))
        multiply = T.match_buffer(var_multiply, (m,))
        # with T.block("root"):
        for i0 in range(m):
            with T.block("multiply"):
                v_i0 = T.axis.spatial(m, i0)
                T.reads(x1[v_i0], x2[v_i0])
                T.writes(multiply[v_i0])
                multiply[v_i0] = x1[v_i0] * x2[v_i0]

    @T.prim_func(private=True)
    def negative(var_x: T.handle, var_negative: T.handle):
        T.func_attr({"op_pattern": 0})
        m = T.int64()
        x = T.match_buffer(var_x, (m,))
        negative = T.match_buffer(var_negative, (m,))
        # with T.block("root"):
        for i0 in range(m):
            with T.block("negative"):
                v_i0 = T.axis.spatial(m, i0)
                T.reads(x[v_i0])
                T.writes(negative[v_i0])
                negative[v_i0] = x[v_i0] * T.float32(-1)

    @R.function(private=True)
    def fused_negative_exp_arange_multiply(y: R.Tensor(("m",), dtype="float32"), tir_vars: R.Shape(["n"])) -> R.Tensor(("m",), dtype="float32"):
        m = T.int64()
        n = T.int64()
        R.func_attr({"Primitive": True})
        cls = Module
        with R.dataflow():
            a = R.call_tir(cls.negative, (y,), out_sinfo=R.Tensor((m,), dtype="float32"))
            b = R.call_tir(cls.exp, (a,), out_sinfo=R.Tensor((m,), dtype="float32"))
            r = R.call_tir(cls.arange, (), out_sinfo=R.Tensor((n,), dtype="float32"))
            z = R.call_tir(cls.multiply, (b, r), out_sinfo=R.Tensor((m,), dtype="float32"))
            R.output(z)
        return z

    @R.function
    def main(y: R.Tensor(("m",), dtype="float32"), t: R.Tensor((1,), dtype="int64")) -> R.Tensor(("m",), dtype="float32"):
        m = T.int64()
        n = T.int64()
        cls = Module
        with R.dataflow():
            s: R.Shape(ndim=1) = R.call_pure_packed("vm.builtin.tensor_to_shape", t, sinfo_args=(R.Shape(ndim=1),))
            q: R.Shape([n]) = R.match_cast(s, R.Shape([n]))
            z: R.Tensor((m,), dtype="float32") = cls.fused_negative_exp_arange_multiply(y, R.shape([n]))
            R_multiply__extents_that_broadcast___n_must_be_m: R.Prim(value=m) = R.match_cast(R.prim_value(n), R.Prim(value=m))
            R.output(z)
        return z
