# test: pass
# run: legalize_ops, to_non_dataflow, remove_purity_checking, call_tir_rewrite, static_plan_block_memory
# Where sizes are open, the function asks when it is called where tensors lie: in an arena, or in the memory of a result that is not made yet.

@I.ir_module
class Module:
    @R.function
    def main(x: R.Tensor(("n", 8), "float32")) -> R.Tuple(R.Tensor(("n", 8), "float32"), R.Tensor(("n", 40), "float32")):
        n = T.int64()
        with R.dataflow():
            a = R.exp(x)
            b = R.matmul(a, R.permute_dims(a))
            p = R.matmul(b, a)
            c = R.concat([p, a], axis=1)
            q = R.concat([c, c, a], axis=1)
            R.output(p, q)
        return (p, q)
# expect:
# from tvm.script import ir as I
# from tvm.script import tir as T
# from tvm.script import relax as R

@I.ir_module
class Module:
    @T.prim_func(private=True)
    def concat(var_tensors_0: T.handle, var_tensors_1: T.handle, var_concat: T.handle):
        n = T.int64()
        tensors_0 = T.match_buffer(var_tensors_0, (n, 8))
        tensors_1 = T.match_buffer(var_tensors_1, (n, 8))
        concat = T.match_buffer(var_concat, (n, 16))
        # with T.block("root"):
        for i0, i1 in T.grid(n, T.int64(16)):
            with T.block("concat"):
                v_i0, v_i1 = T.axis.remap("SS", [i0, i1])
                T.reads(tensors_0[v_i0, v_i1], tensors_1[v_i0, v_i1 - T.int64(8)])
                T.writes(concat[v_i0, v_i1])
                concat[v_i0, v_i1] = T.if_then_else(v_i1 < T.int64(8), tensors_0[v_i0, v_i1], tensors_1[v_i0, v_i1 - T.int64(8)])

    @T.prim_func(private=True)
    def concat1(var_tensors_0: T.handle, var_tensors_1: T.handle, var_tensors_2: T.handle, var_concat: T.handle):
        n = T.int64()
        tensors_0 = T.match_buffer(var_tensors_0, (n, 16))
        tensors_1 = T.match_buffer(var_tensors_1, (n, 16))
        tensors_2 = T.match_buffer(var_tensors_2, (n, 8))
        concat = T.match_buffer(var_concat, (n, 40))
        # with T.block("root"):
        for i0, i1 in T.grid(n, T.int64(40)):
            with T.block("concat"):
                v_i0, v_i1 = T.axis.remap("SS", [i0, i1])
                T.reads(tensors_0[v_i0, v_i1], tensors_1[v_i0, v_i1 - T.int64(16)], tensors_2[v_i0, v_i1 - T.int64(32)])
                T.writes(concat[v_i0, v_i1])
                concat[v_i0, v_i1] = T.if_then_else(v_i1 < T.int64(16), tensors_0[v_i0, v_i1], T.if_then_else(v_i1 < T.int64(32), tensors_1[v_i0, v_i1 - T.int64(16)], tensors_2[v_i0, v_i1 - T.int64(32)]))

    @T.prim_func(private=True)
    def exp(var_x: T.handle, var_exp: T.handle):
        n = T.int64()
        x = T.match_buffer(var_x, (n, 8))
        exp = T.match_buffer(var_exp, (n, 8))
        # with T.block("root"):
        for i0, i1 in T.grid(n, T.int64(8)):
            with T.block("exp"):
                v_i0, v_i1 = T.axis.remap("SS", [i0, i1])
                T.reads(x[v_i0, v_i1])
                T.writes(exp[v_i0, v_i1])
                exp[v_i0, v_i1] = T.exp(x[v_i0, v_i1])

    @T.prim_func(private=True)
    def matmul(var_x1: T.handle, var_x2: T.handle, var_matmul: T.handle):
        n = T.int64()
        x1 = T.match_buffer(var_x1, (n, 8))
        x2 = T.match_buffer(var_x2, (8, n))
        matmul = T.match_buffer(var_matmul, (n, n))
        # with T.block("root"):
        for i0, i1, k in T.grid(n, n, T.int64(8)):
            with T.block("matmul"):
                v_i0, v_i1, v_k = T.axis.remap("SSR", [i0, i1, k])
                T.reads(x1[v_i0, v_k], x2[v_k, v_i1])
                T.writes(matmul[v_i0, v_i1])
                with T.init():
                    matmul[v_i0, v_i1] = T.float32(0)
                matmul[v_i0, v_i1] = matmul[v_i0, v_i1] + x1[v_i0, v_k] * x2[v_k, v_i1]

    @T.prim_func(private=True)
    def matmul1(var_x1: T.handle, var_x2: T.handle, var_matmul: T.handle):
        n = T.int64()
        x1 = T.match_buffer(var_x1, (n, n))
        x2 = T.match_buffer(var_x2, (n, 8))
        matmul = T.match_buffer(var_matmul, (n, 8))
        # with T.block("root"):
        for i0, i1, k in T.grid(n, T.int64(8), n):
            with T.block("matmul"):
                v_i0, v_i1, v_k = T.axis.remap("SSR", [i0, i1, k])
                T.reads(x1[v_i0, v_k], x2[v_k, v_i1])
                T.writes(matmul[v_i0, v_i1])
                with T.init():
                    matmul[v_i0, v_i1] = T.float32(0)
                matmul[v_i0, v_i1] = matmul[v_i0, v_i1] + x1[v_i0, v_k] * x2[v_k, v_i1]

    @T.prim_func(private=True)
    def permute_dims(var_x: T.handle, var_permute_dims: T.handle):
        n = T.int64()
        x = T.match_buffer(var_x, (n, 8))
        permute_dims = T.match_buffer(var_permute_dims, (8, n))
        # with T.block("root"):
        for i0, i1 in T.grid(T.int64(8), n):
            with T.block("permute_dims"):
                v_i0, v_i1 = T.axis.remap("SS", [i0, i1])
                T.reads(x[v_i1, v_i0])
                T.writes(permute_dims[v_i0, v_i1])
                permute_dims[v_i0, v_i1] = x[v_i1, v_i0]

    @R.function
    def main(x: R.Tensor(("n", 8), dtype="float32")) -> R.Tuple(R.Tensor(("n", 8), dtype="float32"), R.Tensor(("n", 40), dtype="float32")):
        arena_bytes = T.int64()
        n = T.int64()
        offset_0 = T.int64()
        offset_1 = T.int64()
        offset_2 = T.int64()
        offset_3 = T.int64()
        R.func_attr({"relax.force_pure": True})
        cls = Module
        packing: R.Shape(ndim=5) = R.call_packed("weftile.pack_memory", R.shape([256, 2, 4, 16, 0, 10, 1, 1, 17, 1, 4, 8, 1, 7, 11, 2, 13, 17, 3]), R.shape([160 * n, 32 * n, 4 * (n * n), 64 * n]), sinfo_args=(R.Shape(ndim=5),))
        packed: R.Shape([arena_bytes, offset_0, offset_1, offset_2, offset_3]) = R.match_cast(packing, R.Shape([arena_bytes, offset_0, offset_1, offset_2, offset_3]))
        storage: R.Object = R.memory.alloc_storage(R.shape([arena_bytes]), R.prim_value(0), R.str("global"), R.dtype("float32"))
        storage_1: R.Object = R.memory.alloc_storage(R.shape([160 * n]), R.prim_value(0), R.str("global"), R.dtype("float32"))
        storage_2: R.Object = R.memory.alloc_storage(R.shape([32 * n]), R.prim_value(0), R.str("global"), R.dtype("float32"))
        alloc: R.Tensor((n, 8), dtype="float32") = R.memory.alloc_tensor(storage, R.prim_value(offset_0), R.shape([n, 8]), R.dtype("float32"), R.prim_value(0))
        cls.exp(x, alloc)
        a: R.Tensor((n, 8), dtype="float32") = alloc
        alloc_1: R.Tensor((8, n), dtype="float32") = R.memory.alloc_tensor((storage, storage_1, storage_2), R.prim_value(offset_1), R.shape([8, n]), R.dtype("float32"), R.prim_value(0))
        cls.permute_dims(a, alloc_1)
        lv: R.Tensor((8, n), dtype="float32") = alloc_1
        alloc_2: R.Tensor((n, n), dtype="float32") = R.memory.alloc_tensor((storage, storage_1), R.prim_value(offset_2), R.shape([n, n]), R.dtype("float32"), R.prim_value(0))
        cls.matmul(a, lv, alloc_2)
        b: R.Tensor((n, n), dtype="float32") = alloc_2
        alloc_3: R.Tensor((n, 8), dtype="float32") = R.memory.alloc_tensor(storage_2, R.prim_value(0), R.shape([n, 8]), R.dtype("float32"), R.prim_value(0))
        cls.matmul1(b, a, alloc_3)
        p: R.Tensor((n, 8), dtype="float32") = alloc_3
        alloc_4: R.Tensor((n, 16), dtype="float32") = R.memory.alloc_tensor(storage, R.prim_value(offset_3), R.shape([n, 16]), R.dtype("float32"), R.prim_value(0))
        cls.concat(p, a, alloc_4)
        c: R.Tensor((n, 16), dtype="float32") = alloc_4
        alloc_5: R.Tensor((n, 40), dtype="float32") = R.memory.alloc_tensor(storage_1, R.prim_value(0), R.shape([n, 40]), R.dtype("float32"), R.prim_value(0))
        cls.concat1(c, c, a, alloc_5)
        q: R.Tensor((n, 40), dtype="float32") = alloc_5
        return (p, q)
