# test: pass
# run: legalize_ops, annotate_tir_op_pattern, fuse_ops, dead_code_elimination
# A product takes its epilogue, a value used outside is a second result, equal groups share a
# function, a reduction starts nothing. Loop programs of symbolic sizes that no tensor fixes get them as a shape.

@I.ir_module
class Module:
    @R.function
    def main(x: R.Tensor(("n", 8), "float32"), w: R.Tensor((8, 6), "float32"), bias: R.Tensor((6,), "float32"), v: R.Tensor((6, 6), "float32"), u: R.Tensor(("n * 2",), "float32")):
        n = T.int64()
        with R.dataflow():
            a = R.matmul(x, w)
            b = R.add(a, bias)
            c = R.nn.relu(b)
            d = R.matmul(c, v)
            e = R.tanh(d)
            f = R.exp(e)
            g = R.matmul(f, v)
            h = R.tanh(g)
            i = R.exp(h)
            j = R.sum(i, axis=[1])
            k = R.sqrt(j)
            l = R.exp(u)
            m = R.negative(l)
            R.output(e, k, m)
        return (e, k, m)
# expect:
# from tvm.script import ir as I
# from tvm.script import tir as T
# from tvm.script import relax as R

@I.ir_module
class Module:
    @T.prim_func(private=True)
    def add(var_x1: T.handle, x2: T.Buffer((6,), "float32"), var_add: T.handle):
        T.func_attr({"op_pattern": 0})
        n = T.int64()
        x1 = T.match_buffer(var_x1, (n, 6))
        add = T.match_buffer(var_add, (n, 6))
        # with T.block("root"):
        for i0, i1 in T.grid(n, T.int64(6)):
            with T.block("add"):
                v_i0, v_i1 = T.axis.remap("SS", [i0, i1])
                T.reads(x1[v_i0, v_i1], x2[v_i1])
                T.writes(add[v_i0, v_i1])
                add[v_i0, v_i1] = x1[v_i0, v_i1] + x2[v_i1]

    @T.prim_func(private=True)
    def exp(var_x: T.handle, var_exp: T.handle):
        T.func_attr({"op_pattern": 0})
        n = T.int64()
        x = T.match_buffer(var_x, (n, 6))
        exp = T.match_buffer(var_exp, (n, 6))
        # with T.block("root"):
        for i0, i1 in T.grid(n, T.int64(6)):
            with T.block("exp"):
                v_i0, v_i1 = T.axis.remap("SS", [i0, i1])
                T.reads(x[v_i0, v_i1])
                T.writes(exp[v_i0, v_i1])
                exp[v_i0, v_i1] = T.exp(x[v_i0, v_i1])

    @T.prim_func(private=True)
    def exp1(var_x: T.handle, var_exp: T.handle, n: T.int64):
        T.func_attr({"op_pattern": 0})
        x = T.match_buffer(var_x, (n * T.int64(2),))
        exp = T.match_buffer(var_exp, (n * T.int64(2),))
        # with T.block("root"):
        for i0 in range(n * T.int64(2)):
            with T.block("exp"):
                v_i0 = T.axis.spatial(n * T.int64(2), i0)
                T.reads(x[v_i0])
                T.writes(exp[v_i0])
                exp[v_i0] = T.exp(x[v_i0])

    @T.prim_func(private=True)
    def matmul(var_x1: T.handle, x2: T.Buffer((8, 6), "float32"), var_matmul: T.handle):
        T.func_attr({"op_pattern": 4})
        n = T.int64()
        x1 = T.match_buffer(var_x1, (n, 8))
        matmul = T.match_buffer(var_matmul, (n, 6))
        # with T.block("root"):
        for i0, i1, k in T.grid(n, T.int64(6), T.int64(8)):
            with T.block("matmul"):
                v_i0, v_i1, v_k = T.axis.remap("SSR", [i0, i1, k])
                T.reads(x1[v_i0, v_k], x2[v_k, v_i1])
                T.writes(matmul[v_i0, v_i1])
                with T.init():
                    matmul[v_i0, v_i1] = T.float32(0)
                matmul[v_i0, v_i1] = matmul[v_i0, v_i1] + x1[v_i0, v_k] * x2[v_k, v_i1]

    @T.prim_func(private=True)
    def matmul1(var_x1: T.handle, x2: T.Buffer((6, 6), "float32"), var_matmul: T.handle):
        T.func_attr({"op_pattern": 4})
        n = T.int64()
        x1 = T.match_buffer(var_x1, (n, 6))
        matmul = T.match_buffer(var_matmul, (n, 6))
        # with T.block("root"):
        for i0, i1, k in T.grid(n, T.int64(6), T.int64(6)):
            with T.block("matmul"):
                v_i0, v_i1, v_k = T.axis.remap("SSR", [i0, i1, k])
                T.reads(x1[v_i0, v_k], x2[v_k, v_i1])
                T.writes(matmul[v_i0, v_i1])
                with T.init():
                    matmul[v_i0, v_i1] = T.float32(0)
                matmul[v_i0, v_i1] = matmul[v_i0, v_i1] + x1[v_i0, v_k] * x2[v_k, v_i1]

    @T.prim_func(private=True)
    def negative(var_x: T.handle, var_negative: T.handle, n: T.int64):
        T.func_attr({"op_pattern": 0})
        x = T.match_buffer(var_x, (n * T.int64(2),))
        negative = T.match_buffer(var_negative, (n * T.int64(2),))
        # with T.block("root"):
        for i0 in range(n * T.int64(2)):
            with T.block("negative"):
                v_i0 = T.axis.spatial(n * T.int64(2), i0)
                T.reads(x[v_i0])
                T.writes(negative[v_i0])
                negative[v_i0] = x[v_i0] * T.float32(-1)

    @T.prim_func(private=True)
    def relu(var_x: T.handle, var_relu: T.handle):
        T.func_attr({"op_pattern": 0})
        n = T.int64()
        x = T.match_buffer(var_x, (n, 6))
        relu = T.match_buffer(var_relu, (n, 6))
        # with T.block("root"):
        for i0, i1 in T.grid(n, T.int64(6)):
            with T.block("relu"):
                v_i0, v_i1 = T.axis.remap("SS", [i0, i1])
                T.reads(x[v_i0, v_i1])
                T.writes(relu[v_i0, v_i1])
                relu[v_i0, v_i1] = T.max(x[v_i0, v_i1], T.float32(0))

    @T.prim_func(private=True)
    def sqrt(var_x: T.handle, var_sqrt: T.handle):
        T.func_attr({"op_pattern": 0})
        n = T.int64()
        x = T.match_buffer(var_x, (n,))
        sqrt = T.match_buffer(var_sqrt, (n,))
        # with T.block("root"):
        for i0 in range(n):
            with T.block("sqrt"):
                v_i0 = T.axis.spatial(n, i0)
                T.reads(x[v_i0])
                T.writes(sqrt[v_i0])
                sqrt[v_i0] = T.sqrt(x[v_i0])

    @T.prim_func(private=True)
    def sum(var_x: T.handle, var_sum: T.handle):
        T.func_attr({"op_pattern": 3})
        n = T.int64()
        x = T.match_buffer(var_x, (n, 6))
        sum = T.match_buffer(var_sum, (n,))
        # with T.block("root"):
        for i0, k0 in T.grid(n, T.int64(6)):
            with T.block("sum"):
                v_i0, v_k0 = T.axis.remap("SR", [i0, k0])
                T.reads(x[v_i0, v_k0])
                T.writes(sum[v_i0])
                with T.init():
                    sum[v_i0] = T.float32(0)
                sum[v_i0] = sum[v_i0] + x[v_i0, v_k0]

    @T.prim_func(private=True)
    def tanh(var_x: T.handle, var_tanh: T.handle):
        T.func_attr({"op_pattern": 0})
        n = T.int64()
        x = T.match_buffer(var_x, (n, 6))
        tanh = T.match_buffer(var_tanh, (n, 6))
        # with T.block("root"):
        for i0, i1 in T.grid(n, T.int64(6)):
            with T.block("tanh"):
                v_i0, v_i1 = T.axis.remap("SS", [i0, i1])
                T.reads(x[v_i0, v_i1])
                T.writes(tanh[v_i0, v_i1])
                tanh[v_i0, v_i1] = T.tanh(x[v_i0, v_i1])

    @R.function(private=True)
    def fused_exp1_negative(u: R.Tensor(("n * 2",), dtype="float32"), tir_vars: R.Shape(["n"])) -> R.Tensor(("n * 2",), dtype="float32"):
        n = T.int64()
        R.func_attr({"Primitive": True})
        cls = Module
        with R.dataflow():
            l = R.call_tir(cls.exp1, (u,), out_sinfo=R.Tensor((n * 2,), dtype="float32"), tir_vars=R.shape([n]))
            m = R.call_tir(cls.negative, (l,), out_sinfo=R.Tensor((n * 2,), dtype="float32"), tir_vars=R.shape([n]))
            R.output(m)
        return m

    @R.function(private=True)
    def fused_matmul1_tanh(c: R.Tensor(("n", 6), dtype="float32"), v: R.Tensor((6, 6), dtype="float32")) -> R.Tensor(("n", 6), dtype="float32"):
        n = T.int64()
        R.func_attr({"Primitive": True})
        cls = Module
        with R.dataflow():
            d = R.call_tir(cls.matmul1, (c, v), out_sinfo=R.Tensor((n, 6), dtype="float32"))
            e = R.call_tir(cls.tanh, (d,), out_sinfo=R.Tensor((n, 6), dtype="float32"))
            R.output(e)
        return e

    @R.function(private=True)
    def fused_matmul1_tanh_exp(f: R.Tensor(("n", 6), dtype="float32"), v: R.Tensor((6, 6), dtype="float32")) -> R.Tensor(("n", 6), dtype="float32"):
        n = T.int64()
        R.func_attr({"Primitive": True})
        cls = Module
        with R.dataflow():
            g = R.call_tir(cls.matmul1, (f, v), out_sinfo=R.Tensor((n, 6), dtype="float32"))
            h = R.call_tir(cls.tanh, (g,), out_sinfo=R.Tensor((n, 6), dtype="float32"))
            i = R.call_tir(cls.exp, (h,), out_sinfo=R.Tensor((n, 6), dtype="float32"))
            R.output(i)
        return i

    @R.function(private=True)
    def fused_matmul_add_relu(x: R.Tensor(("n", 8), dtype="float32"), w: R.Tensor((8, 6), dtype="float32"), bias: R.Tensor((6,), dtype="float32")) -> R.Tensor(("n", 6), dtype="float32"):
        n = T.int64()
        R.func_attr({"Primitive": True})
        cls = Module
        with R.dataflow():
            a = R.call_tir(cls.matmul, (x, w), out_sinfo=R.Tensor((n, 6), dtype="float32"))
            b = R.call_tir(cls.add, (a, bias), out_sinfo=R.Tensor((n, 6), dtype="float32"))
            c = R.call_tir(cls.relu, (b,), out_sinfo=R.Tensor((n, 6), dtype="float32"))
            R.output(c)
        return c

    @R.function
    def main(x: R.Tensor(("n", 8), dtype="float32"), w: R.Tensor((8, 6), dtype="float32"), bias: R.Tensor((6,), dtype="float32"), v: R.Tensor((6, 6), dtype="float32"), u: R.Tensor(("n * 2",), dtype="float32")) -> R.Tuple(R.Tensor(("n", 6), dtype="float32"), R.Tensor(("n",), dtype="float32"), R.Tensor(("n * 2",), dtype="float32")):
        n = T.int64()
        cls = Module
        with R.dataflow():
            c: R.Tensor((n, 6), dtype="float32") = cls.fused_matmul_add_relu(x, w, bias)
            e: R.Tensor((n, 6), dtype="float32") = cls.fused_matmul1_tanh(c, v)
            f = R.call_tir(cls.exp, (e,), out_sinfo=R.Tensor((n, 6), dtype="float32"))
            i: R.Tensor((n, 6), dtype="float32") = cls.fused_matmul1_tanh_exp(f, v)
            j = R.call_tir(cls.sum, (i,), out_sinfo=R.Tensor((n,), dtype="float32"))
            k = R.call_tir(cls.sqrt, (j,), out_sinfo=R.Tensor((n,), dtype="float32"))
            m: R.Tensor((n * 2,), dtype="float32") = cls.fused_exp1_negative(u, R.shape([n]))
            R.output(e, k, m)
        return (e, k, m)
