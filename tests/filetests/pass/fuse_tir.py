# test: pass
# run: fuse_tir
# Programs stand one after the other, with what goes between them as memory; a tuple is passed by its elements, sizes as scalars. An element may be the result; what is no loop program stays.

@I.ir_module
class Module:
    @T.prim_func(private=True)
    def exp(x: T.handle, y: T.handle):
        n = T.int64()
        X = T.match_buffer(x, (n,), "float32")
        Y = T.match_buffer(y, (n,), "float32")
        for i in range(n):
            with T.block("Y"):
                vi = T.axis.spatial(n, i)
                Y[vi] = T.exp(X[vi])

    @T.prim_func(private=True)
    def halves(x: T.handle, y: T.handle, z: T.handle, n: T.int64):
        X = T.match_buffer(x, (n * 2,), "float32")
        Y = T.match_buffer(y, (n,), "float32")
        Z = T.match_buffer(z, (n,), "float32")
        for i in range(n):
            with T.block("Y"):
                vi = T.axis.spatial(n, i)
                Y[vi] = X[vi]
        for i in range(n):
            with T.block("Z"):
                vi = T.axis.spatial(n, i)
                Z[vi] = X[vi + n]

    @R.function(private=True)
    def fused_exp_halves(x: R.Tensor(("n * 2",), "float32"), tir_vars: R.Shape(["n"])) -> R.Tuple(R.Tensor(("n",), "float32"), R.Tensor(("n",), "float32")):
        R.func_attr({"Primitive": True})
        n = T.int64()
        cls = Module
        with R.dataflow():
            a = R.call_tir(cls.exp, (x,), out_ty=R.Tensor((n * 2,), "float32"))
            b = R.call_tir(cls.halves, (a,), out_ty=(R.Tensor((n,), "float32"), R.Tensor((n,), "float32")), tir_vars=R.shape([n]))
            c = b[1]
            gv = R.call_tir(cls.exp, (c,), out_ty=R.Tensor((n,), "float32"))
            gv1 = R.call_tir(cls.exp, (gv,), out_ty=R.Tensor((n,), "float32"))
            R.output(gv, gv1)
        return (gv, gv1)

    @R.function(private=True)
    def fused_exp_half(x: R.Tensor(("n * 2",), "float32"), tir_vars: R.Shape(["n"])) -> R.Tensor(("n",), "float32"):
        R.func_attr({"Primitive": True})
        n = T.int64()
        cls = Module
        with R.dataflow():
            a = R.call_tir(cls.exp, (x,), out_ty=R.Tensor((n * 2,), "float32"))
            b = R.call_tir(cls.halves, (a,), out_ty=(R.Tensor((n,), "float32"), R.Tensor((n,), "float32")), tir_vars=R.shape([n]))
            c = b[1]
            R.output(c)
        return c

    @R.function(private=True)
    def whole_but_packed(x: R.Tensor(("n",), "float32")) -> R.Tensor(("n",), "float32"):
        R.func_attr({"Primitive": True})
        n = T.int64()
        with R.dataflow():
            a = R.call_dps_packed("host", (x,), out_ty=R.Tensor((n,), "float32"))
            R.output(a)
        return a

    @R.function
    def main(x: R.Tensor(("n * 2",), "float32"), s: R.Shape(["n"])) -> R.Tuple(R.Tuple(R.Tensor(("n",), "float32"), R.Tensor(("n",), "float32")), R.Tensor(("n",), "float32")):
        n = T.int64()
        cls = Module
        with R.dataflow():
            gv = cls.fused_exp_halves(x, R.shape([n]))
            half = cls.fused_exp_half(x, R.shape([n]))
            same = cls.whole_but_packed(half)
            R.output(gv, same)
        return (gv, same)
# expect:
# from tvm.script import ir as I
# from tvm.script import tir as T
# from tvm.script import relax as R

@I.ir_module
class Module:
    @T.prim_func(private=True)
    def fused_exp_half(var_x: T.handle, var_c: T.handle, n: T.int64):
        T.func_attr({"tir.noalias": True})
        x = T.match_buffer(var_x, (n * T.int64(2),))
        c = T.match_buffer(var_c, (n,))
        # with T.block("root"):
        Y_intermediate = T.alloc_buffer((n * T.int64(2),))
        Y_intermediate_1 = T.alloc_buffer((n,))
        for i in range(n * T.int64(2)):
            with T.block("Y"):
                vi = T.axis.spatial(n * T.int64(2), i)
                T.reads(x[vi])
                T.writes(Y_intermediate[vi])
                Y_intermediate[vi] = T.exp(x[vi])
        for i in range(n):
            with T.block("Y_1"):
                vi = T.axis.spatial(n, i)
                T.reads(Y_intermediate[vi])
                T.writes(Y_intermediate_1[vi])
                Y_intermediate_1[vi] = Y_intermediate[vi]
        for i in range(n):
            with T.block("Z"):
                vi = T.axis.spatial(n, i)
                T.reads(Y_intermediate[vi + n])
                T.writes(c[vi])
                c[vi] = Y_intermediate[vi + n]

    @T.prim_func(private=True)
    def fused_exp_halves(var_x: T.handle, var_gv: T.handle, var_gv1: T.handle, n: T.int64):
        T.func_attr({"tir.noalias": True})
        x = T.match_buffer(var_x, (n * T.int64(2),))
        gv = T.match_buffer(var_gv, (n,))
        gv1 = T.match_buffer(var_gv1, (n,))
        # with T.block("root"):
        Y_intermediate = T.alloc_buffer((n * T.int64(2),))
        Y_intermediate_1 = T.alloc_buffer((n,))
        Z_intermediate = T.alloc_buffer((n,))
        for i in range(n * T.int64(2)):
            with T.block("Y"):
                vi = T.axis.spatial(n * T.int64(2), i)
                T.reads(x[vi])
                T.writes(Y_intermediate[vi])
                Y_intermediate[vi] = T.exp(x[vi])
        for i in range(n):
            with T.block("Y_1"):
                vi = T.axis.spatial(n, i)
                T.reads(Y_intermediate[vi])
                T.writes(Y_intermediate_1[vi])
                Y_intermediate_1[vi] = Y_intermediate[vi]
        for i in range(n):
            with T.block("Z"):
                vi = T.axis.spatial(n, i)
                T.reads(Y_intermediate[vi + n])
                T.writes(Z_intermediate[vi])
                Z_intermediate[vi] = Y_intermediate[vi + n]
        for i in range(n):
            with T.block("Y_2"):
                vi = T.axis.spatial(n, i)
                T.reads(Z_intermediate[vi])
                T.writes(gv[vi])
                gv[vi] = T.exp(Z_intermediate[vi])
        for i in range(n):
            with T.block("Y_3"):
                vi = T.axis.spatial(n, i)
                T.reads(gv[vi])
                T.writes(gv1[vi])
                gv1[vi] = T.exp(gv[vi])

    @R.function
    def main(x: R.Tensor(("n * 2",), dtype="float32"), s: R.Shape(["n"])) -> R.Tuple(R.Tuple(R.Tensor(("n",), dtype="float32"), R.Tensor(("n",), dtype="float32")), R.Tensor(("n",), dtype="float32")):
        n = T.int64()
        cls = Module
        with R.dataflow():
            gv = R.call_tir(cls.fused_exp_halves, (x,), out_sinfo=[R.Tensor((n,), dtype="float32"), R.Tensor((n,), dtype="float32")], tir_vars=R.shape([n]))
            half = R.call_tir(cls.fused_exp_half, (x,), out_sinfo=R.Tensor((n,), dtype="float32"), tir_vars=R.shape([n]))
            same: R.Tensor((n,), dtype="float32") = cls.whole_but_packed(half)
            R.output(gv, same)
        return (gv, same)

    @R.function(private=True)
    def whole_but_packed(x: R.Tensor(("n",), dtype="float32")) -> R.Tensor(("n",), dtype="float32"):
        n = T.int64()
        R.func_attr({"Primitive": True})
        with R.dataflow():
            a = R.call_dps_packed("host", (x,), out_sinfo=R.Tensor((n,), dtype="float32"))
            R.output(a)
        return a
