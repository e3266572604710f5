# test: pass
# target: gpu
# run: legalize_ops, fold_constant, annotate_tir_op_pattern, fuse_ops, fuse_tir
# A product unpacks the weight that it alone reads; its epilogue joins it, too.

@I.ir_module
class Module:
    @R.function
    def main(x: R.Tensor(("n", 64), "float32"), w: R.Tensor((48, 8), "uint32"), s: R.Tensor((48, 2), "float32")):
        n = T.int64()
        with R.dataflow():
            q = R.astype(R.unpack_bits(w), dtype="float32")
            d = R.multiply(R.subtract(q, R.const(8, "float32")), R.repeat(s, 32, axis=1))
            y = R.nn.relu(R.matmul(x, R.permute_dims(d)))
            R.output(y)
        return y
# expect:
# from tvm.script import ir as I
# from tvm.script import tir as T
# from tvm.script import relax as R

@I.ir_module
class Module:
    @T.prim_func(private=True)
    def fused_unpack_bits_astype_subtract_repeat_multiply_permute_dims_matmul_relu(w: T.Buffer((48, 8), "uint32"), s: T.Buffer((48, 2), "float32"), var_x: T.handle, var_y: T.handle):
        T.func_attr({"tir.noalias": True})
        n = T.int64()
        x = T.match_buffer(var_x, (n, 64))
        y = T.match_buffer(var_y, (n, 48))
        # with T.block("root"):
        unpack_bits_intermediate = T.alloc_buffer((48, 64), "uint32")
        astype_intermediate = T.alloc_buffer((48, 64))
        subtract_intermediate = T.alloc_buffer((48, 64))
        repeat_intermediate = T.alloc_buffer((48, 64))
        multiply_intermediate = T.alloc_buffer((48, 64))
        permute_dims_intermediate = T.alloc_buffer((64, 48))
        matmul_intermediate = T.alloc_buffer((n, 48))
        for i0, i1 in T.grid(T.int64(48), T.int64(64)):
            with T.block("unpack_bits"):
                v_i0, v_i1 = T.axis.remap("SS", [i0, i1])
                T.reads(w[v_i0, v_i1 // T.int64(8)])
                T.writes(unpack_bits_intermediate[v_i0, v_i1])
                unpack_bits_intermediate[v_i0, v_i1] = w[v_i0, v_i1 // T.int64(8)] >> T.Cast("uint32", v_i1 % T.int64(8) * T.int64(4)) & T.uint32(15)
        for i0, i1 in T.grid(T.int64(48), T.int64(64)):
            with T.block("astype"):
                v_i0, v_i1 = T.axis.remap("SS", [i0, i1])
                T.reads(unpack_bits_intermediate[v_i0, v_i1])
                T.writes(astype_intermediate[v_i0, v_i1])
                astype_intermediate[v_i0, v_i1] = T.Cast("float32", unpack_bits_intermediate[v_i0, v_i1])
        for i0, i1 in T.grid(T.int64(48), T.int64(64)):
            with T.block("subtract"):
                v_i0, v_i1 = T.axis.remap("SS", [i0, i1])
                T.reads(astype_intermediate[v_i0, v_i1])
                T.writes(subtract_intermediate[v_i0, v_i1])
                subtract_intermediate[v_i0, v_i1] = astype_intermediate[v_i0, v_i1] - T.float32(8)
        for i0, i1 in T.grid(T.int64(48), T.int64(64)):
            with T.block("repeat"):
                v_i0, v_i1 = T.axis.remap("SS", [i0, i1])
                T.reads(s[v_i0, v_i1 // T.int64(32)])
                T.writes(repeat_intermediate[v_i0, v_i1])
                repeat_intermediate[v_i0, v_i1] = s[v_i0, v_i1 // T.int64(32)]
        for i0, i1 in T.grid(T.int64(48), T.int64(64)):
            with T.block("multiply"):
                v_i0, v_i1 = T.axis.remap("SS", [i0, i1])
                T.reads(subtract_intermediate[v_i0, v_i1], repeat_intermediate[v_i0, v_i1])
                T.writes(multiply_intermediate[v_i0, v_i1])
                multiply_intermediate[v_i0, v_i1] = subtract_intermediate[v_i0, v_i1] * repeat_intermediate[v_i0, v_i1]
        for i0, i1 in T.grid(T.int64(64), T.int64(48)):
            with T.block("permute_dims"):
                v_i0, v_i1 = T.axis.remap("SS", [i0, i1])
                T.reads(multiply_intermediate[v_i1, v_i0])
                T.writes(permute_dims_intermediate[v_i0, v_i1])
                permute_dims_intermediate[v_i0, v_i1] = multiply_intermediate[v_i1, v_i0]
        for i0, i1, k in T.grid(n, T.int64(48), T.int64(64)):
            with T.block("matmul"):
                v_i0, v_i1, v_k = T.axis.remap("SSR", [i0, i1, k])
                T.reads(x[v_i0, v_k], permute_dims_intermediate[v_k, v_i1])
                T.writes(matmul_intermediate[v_i0, v_i1])
                with T.init():
                    matmul_intermediate[v_i0, v_i1] = T.float32(0)
                matmul_intermediate[v_i0, v_i1] = matmul_intermediate[v_i0, v_i1] + x[v_i0, v_k] * permute_dims_intermediate[v_k, v_i1]
        for i0, i1 in T.grid(n, T.int64(48)):
            with T.block("relu"):
                v_i0, v_i1 = T.axis.remap("SS", [i0, i1])
                T.reads(matmul_intermediate[v_i0, v_i1])
                T.writes(y[v_i0, v_i1])
                y[v_i0, v_i1] = T.max(matmul_intermediate[v_i0, v_i1], T.float32(0))

    @R.function
    def main(x: R.Tensor(("n", 64), dtype="float32"), w: R.Tensor((48, 8), dtype="uint32"), s: R.Tensor((48, 2), dtype="float32")) -> R.Tensor(("n", 48), dtype="float32"):
        n = T.int64()
        cls = Module
        with R.dataflow():
            y = R.call_tir(cls.fused_unpack_bits_astype_subtract_repeat_multiply_permute_dims_matmul_relu, (w, s, x), out_sinfo=R.Tensor((n, 48), dtype="float32"))
            R.output(y)
        return y
