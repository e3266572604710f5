# test: pass
# run: legalize_ops, annotate_tir_op_pattern, fuse_reductions, fuse_tir, dead_code_elimination
# A bias that the epilogue of a product adds, and that a reduction looks at too, is no part of the chain after the product: the
# chain would need what the product makes of it.

@I.ir_module
class Module:
    @R.function
    def main(q: R.Tensor((4, 8), "float32"), k: R.Tensor((8, 6), "float32"), mask: R.Tensor((4, 6), "bool")):
        with R.dataflow():
            bias = R.where(mask, R.const(0.0, "float32"), R.const("-inf", "float32"))
            product = R.matmul(q, k)
            biased = R.add(product, bias)
            shares = R.nn.softmax(biased, axis=-1)
            most = R.max(bias, axis=[-1], keepdims=True)
            nowhere = R.equal(most, R.const("-inf", "float32"))
            y = R.where(nowhere, R.const(0.0, "float32"), shares)
            R.output(y)
        return y
# expect:
# from tvm.script import ir as I
# from tvm.script import tir as T
# from tvm.script import relax as R

@I.ir_module
class Module:
    @T.prim_func(private=True)
    def add(x1: T.Buffer((4, 6), "float32"), x2: T.Buffer((4, 6), "float32"), add: T.Buffer((4, 6), "float32")):
        T.func_attr({"op_pattern": 0})
        # with T.block("root"):
        for i0, i1 in T.grid(T.int64(4), T.int64(6)):
            with T.block("add"):
                v_i0, v_i1 = T.axis.remap("SS", [i0, i1])
                T.reads(x1[v_i0, v_i1], x2[v_i0, v_i1])
                T.writes(add[v_i0, v_i1])
                add[v_i0, v_i1] = x1[v_i0, v_i1] + x2[v_i0, v_i1]

    @T.prim_func(private=True)
    def fused_softmax_max_equal_where1(biased: T.Buffer((4, 6), "float32"), bias: T.Buffer((4, 6), "float32"), y: T.Buffer((4, 6), "float32")):
        T.func_attr({"tir.noalias": True})
        # with T.block("root"):
        softmax_intermediate = T.alloc_buffer((4, 6))
        softmax_max = T.alloc_buffer((4, 1))
        softmax_exp = T.alloc_buffer((4, 6))
        softmax_sum = T.alloc_buffer((4, 1))
        max_intermediate = T.alloc_buffer((4, 1))
        equal_intermediate = T.alloc_buffer((4, 1), "bool")
        for i0, i1, k0 in T.grid(T.int64(4), T.int64(1), T.int64(6)):
            with T.block("softmax_max"):
                v_i0, v_i1, v_k0 = T.axis.remap("SSR", [i0, i1, k0])
                T.reads(biased[v_i0, v_k0])
                T.writes(softmax_max[v_i0, v_i1])
                with T.init():
                    softmax_max[v_i0, v_i1] = T.float32("-inf")
                softmax_max[v_i0, v_i1] = T.max(softmax_max[v_i0, v_i1], biased[v_i0, v_k0])
        for i0, i1 in T.grid(T.int64(4), T.int64(6)):
            with T.block("softmax_exp"):
                v_i0, v_i1 = T.axis.remap("SS", [i0, i1])
                T.reads(biased[v_i0, v_i1], softmax_max[v_i0, T.int64(0)])
                T.writes(softmax_exp[v_i0, v_i1])
                softmax_exp[v_i0, v_i1] = T.exp(biased[v_i0, v_i1] - softmax_max[v_i0, T.int64(0)])
        for i0, i1, k0 in T.grid(T.int64(4), T.int64(1), T.int64(6)):
            with T.block("softmax_sum"):
                v_i0, v_i1, v_k0 = T.axis.remap("SSR", [i0, i1, k0])
                T.reads(softmax_exp[v_i0, v_k0])
                T.writes(softmax_sum[v_i0, v_i1])
                with T.init():
                    softmax_sum[v_i0, v_i1] = T.float32(0)
                softmax_sum[v_i0, v_i1] = softmax_sum[v_i0, v_i1] + softmax_exp[v_i0, v_k0]
        for i0, i1 in T.grid(T.int64(4), T.int64(6)):
            with T.block("softmax"):
                v_i0, v_i1 = T.axis.remap("SS", [i0, i1])
                T.reads(softmax_exp[v_i0, v_i1], softmax_sum[v_i0, T.int64(0)])
                T.writes(softmax_intermediate[v_i0, v_i1])
                softmax_intermediate[v_i0, v_i1] = softmax_exp[v_i0, v_i1] * (T.float32(1) / softmax_sum[v_i0, T.int64(0)])
        for i0, i1, k0 in T.grid(T.int64(4), T.int64(1), T.int64(6)):
            with T.block("max"):
                v_i0, v_i1, v_k0 = T.axis.remap("SSR", [i0, i1, k0])
                T.reads(bias[v_i0, v_k0])
                T.writes(max_intermediate[v_i0, v_i1])
                with T.init():
                    max_intermediate[v_i0, v_i1] = T.float32("-inf")
                max_intermediate[v_i0, v_i1] = T.max(max_intermediate[v_i0, v_i1], bias[v_i0, v_k0])
        for i0, i1 in T.grid(T.int64(4), T.int64(1)):
            with T.block("equal"):
                v_i0, v_i1 = T.axis.remap("SS", [i0, i1])
                T.reads(max_intermediate[v_i0, T.int64(0)])
                T.writes(equal_intermediate[v_i0, v_i1])
                equal_intermediate[v_i0, v_i1] = max_intermediate[v_i0, T.int64(0)] == T.float32("-inf")
        for i0, i1 in T.grid(T.int64(4), T.int64(6)):
            with T.block("where"):
                v_i0, v_i1 = T.axis.remap("SS", [i0, i1])
                T.reads(equal_intermediate[v_i0, T.int64(0)], softmax_intermediate[v_i0, v_i1])
                T.writes(y[v_i0, v_i1])
                y[v_i0, v_i1] = T.Select(equal_intermediate[v_i0, T.int64(0)], T.float32(0), softmax_intermediate[v_i0, v_i1])

    @T.prim_func(private=True)
    def matmul(x1: T.Buffer((4, 8), "float32"), x2: T.Buffer((8, 6), "float32"), matmul: T.Buffer((4, 6), "float32")):
        T.func_attr({"op_pattern": 4})
        # with T.block("root"):
        for i0, i1, k in T.grid(T.int64(4), T.int64(6), T.int64(8)):
            with T.block("matmul"):
                v_i0, v_i1, v_k = T.axis.remap("SSR", [i0, i1, k])
                T.reads(x1[v_i0, v_k], x2[v_k, v_i1])
                T.writes(matmul[v_i0, v_i1])
                with T.init():
                    matmul[v_i0, v_i1] = T.float32(0)
                matmul[v_i0, v_i1] = matmul[v_i0, v_i1] + x1[v_i0, v_k] * x2[v_k, v_i1]

    @T.prim_func(private=True)
    def where(condition: T.Buffer((4, 6), "bool"), where: T.Buffer((4, 6), "float32")):
        T.func_attr({"op_pattern": 0})
        # with T.block("root"):
        for i0, i1 in T.grid(T.int64(4), T.int64(6)):
            with T.block("where"):
                v_i0, v_i1 = T.axis.remap("SS", [i0, i1])
                T.reads(condition[v_i0, v_i1])
                T.writes(where[v_i0, v_i1])
                where[v_i0, v_i1] = T.Select(condition[v_i0, v_i1], T.float32(0), T.float32("-inf"))

    @R.function
    def main(q: R.Tensor((4, 8), dtype="float32"), k: R.Tensor((8, 6), dtype="float32"), mask: R.Tensor((4, 6), dtype="bool")) -> R.Tensor((4, 6), dtype="float32"):
        cls = Module
        with R.dataflow():
            bias = R.call_tir(cls.where, (mask,), out_sinfo=R.Tensor((4, 6), dtype="float32"))
            product = R.call_tir(cls.matmul, (q, k), out_sinfo=R.Tensor((4, 6), dtype="float32"))
            biased = R.call_tir(cls.add, (product, bias), out_sinfo=R.Tensor((4, 6), dtype="float32"))
            y = R.call_tir(cls.fused_softmax_max_equal_where1, (biased, bias), out_sinfo=R.Tensor((4, 6), dtype="float32"))
            R.output(y)
        return y
