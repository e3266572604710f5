# test: pass
# run: legalize_ops, annotate_tir_op_pattern, fuse_reductions, fuse_tir, dead_code_elimination
# A softmax of primitive operators is one program. What scales a product stays with the product, and a value with users
# outside is no part of a chain.

@I.ir_module
class Module:
    @R.function
    def main(x: R.Tensor(("n", 8), "float32"), w: R.Tensor((8, 6), "float32")):
        n = T.int64()
        with R.dataflow():
            a = R.matmul(x, w)
            s = R.multiply(a, R.const(0.5, "float32"))
            m = R.max(s, axis=-1, keepdims=True)
            d = R.subtract(s, m)
            e = R.exp(d)
            t = R.sum(e, axis=-1, keepdims=True)
            y = R.divide(e, t)
            u = R.sum(x, axis=[1])
            z = R.sqrt(u)
            R.output(y, u, z)
        return (y, u, z)
# expect:
# from tvm.script import ir as I
# from tvm.script import tir as T
# from tvm.script import relax as R

@I.ir_module
class Module:
    @T.prim_func(private=True)
    def fused_max_subtract_exp_sum_divide(var_s: T.handle, var_y: T.handle):
        T.func_attr({"tir.noalias": True})
        n = T.int64()
        s = T.match_buffer(var_s, (n, 6))
        y = T.match_buffer(var_y, (n, 6))
        # with T.block("root"):
        max_intermediate = T.alloc_buffer((n, 1))
        subtract_intermediate = T.alloc_buffer((n, 6))
        exp_intermediate = T.alloc_buffer((n, 6))
        sum_intermediate = T.alloc_buffer((n, 1))
        for i0, i1, k0 in T.grid(n, T.int64(1), T.int64(6)):
            with T.block("max"):
                v_i0, v_i1, v_k0 = T.axis.remap("SSR", [i0, i1, k0])
                T.reads(s[v_i0, v_k0])
                T.writes(max_intermediate[v_i0, v_i1])
                with T.init():
                    max_intermediate[v_i0, v_i1] = T.float32("-inf")
                max_intermediate[v_i0, v_i1] = T.max(max_intermediate[v_i0, v_i1], s[v_i0, v_k0])
        for i0, i1 in T.grid(n, T.int64(6)):
            with T.block("subtract"):
                v_i0, v_i1 = T.axis.remap("SS", [i0, i1])
                T.reads(s[v_i0, v_i1], max_intermediate[v_i0, T.int64(0)])
                T.writes(subtract_intermediate[v_i0, v_i1])
                subtract_intermediate[v_i0, v_i1] = s[v_i0, v_i1] - max_intermediate[v_i0, T.int64(0)]
        for i0, i1 in T.grid(n, T.int64(6)):
            with T.block("exp"):
                v_i0, v_i1 = T.axis.remap("SS", [i0, i1])
                T.reads(subtract_intermediate[v_i0, v_i1])
                T.writes(exp_intermediate[v_i0, v_i1])
                exp_intermediate[v_i0, v_i1] = T.exp(subtract_intermediate[v_i0, v_i1])
        for i0, i1, k0 in T.grid(n, T.int64(1), T.int64(6)):
            with T.block("sum"):
                v_i0, v_i1, v_k0 = T.axis.remap("SSR", [i0, i1, k0])
                T.reads(exp_intermediate[v_i0, v_k0])
                T.writes(sum_intermediate[v_i0, v_i1])
                with T.init():
                    sum_intermediate[v_i0, v_i1] = T.float32(0)
                sum_intermediate[v_i0, v_i1] = sum_intermediate[v_i0, v_i1] + exp_intermediate[v_i0, v_k0]
        for i0, i1 in T.grid(n, T.int64(6)):
            with T.block("divide"):
                v_i0, v_i1 = T.axis.remap("SS", [i0, i1])
                T.reads(exp_intermediate[v_i0, v_i1], sum_intermediate[v_i0, T.int64(0)])
                T.writes(y[v_i0, v_i1])
                y[v_i0, v_i1] = exp_intermediate[v_i0, v_i1] / sum_intermediate[v_i0, T.int64(0)]

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
    def multiply(var_x1: T.handle, var_multiply: T.handle):
        T.func_attr({"op_pattern": 0})
        n = T.int64()
        x1 = T.match_buffer(var_x1, (n, 6))
        multiply = T.match_buffer(var_multiply, (n, 6))
        # with T.block("root"):
        for i0, i1 in T.grid(n, T.int64(6)):
            with T.block("multiply"):
                v_i0, v_i1 = T.axis.remap("SS", [i0, i1])
                T.reads(x1[v_i0, v_i1])
                T.writes(multiply[v_i0, v_i1])
                multiply[v_i0, v_i1] = x1[v_i0, v_i1] * T.float32(0.5)

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
    def sum1(var_x: T.handle, var_sum: T.handle):
        T.func_attr({"op_pattern": 3})
        n = T.int64()
        x = T.match_buffer(var_x, (n, 8))
        sum = T.match_buffer(var_sum, (n,))
        # with T.block("root"):
        for i0, k0 in T.grid(n, T.int64(8)):
            with T.block("sum"):
                v_i0, v_k0 = T.axis.remap("SR", [i0, k0])
                T.reads(x[v_i0, v_k0])
                T.writes(sum[v_i0])
                with T.init():
                    sum[v_i0] = T.float32(0)
                sum[v_i0] = sum[v_i0] + x[v_i0, v_k0]

    @R.function
    def main(x: R.Tensor(("n", 8), dtype="float32"), w: R.Tensor((8, 6), dtype="float32")) -> R.Tuple(R.Tensor(("n", 6), dtype="float32"), R.Tensor(("n",), dtype="float32"), R.Tensor(("n",), dtype="float32")):
        n = T.int64()
        cls = Module
        with R.dataflow():
            a = R.call_tir(cls.matmul, (x, w), out_sinfo=R.Tensor((n, 6), dtype="float32"))
            s = R.call_tir(cls.multiply, (a,), out_sinfo=R.Tensor((n, 6), dtype="float32"))
            y = R.call_tir(cls.fused_max_subtract_exp_sum_divide, (s,), out_sinfo=R.Tensor((n, 6), dtype="float32"))
            u = R.call_tir(cls.sum1, (x,), out_sinfo=R.Tensor((n,), dtype="float32"))
            z = R.call_tir(cls.sqrt, (u,), out_sinfo=R.Tensor((n,), dtype="float32"))
            R.output(y, u, z)
        return (y, u, z)
