# test: pass
# run: legalize_ops, to_non_dataflow, remove_purity_checking, call_tir_rewrite, static_plan_block_memory
# The end of a slice bounds its extent by a number that nobody would allocate: the extent itself says what is needed.

@I.ir_module
class Module:
    @R.function
    def main(x: R.Tensor(("b", 5), "float32")):
        b = T.int64()
        y = R.strided_slice(x, axes=[0], begin=[0], end=[2147483647], strides=[1])
        z = R.nn.relu(y)
        w = R.exp(z)
        return w
# expect:
# from tvm.script import ir as I
# from tvm.script import tir as T
# from tvm.script import relax as R

@I.ir_module
class Module:
    @T.prim_func(private=True)
    def exp(var_x: T.handle, var_exp: T.handle, b: T.int64):
        x = T.match_buffer(var_x, (T.min(b, T.int64(2147483647)), 5))
        exp = T.match_buffer(var_exp, (T.min(b, T.int64(2147483647)), 5))
        # with T.block("root"):
        for i0, i1 in T.grid(T.min(b, T.int64(2147483647)), T.int64(5)):
            with T.block("exp"):
                v_i0, v_i1 = T.axis.remap("SS", [i0, i1])
                T.reads(x[v_i0, v_i1])
                T.writes(exp[v_i0, v_i1])
                exp[v_i0, v_i1] = T.exp(x[v_i0, v_i1])

    @T.prim_func(private=True)
    def relu(var_x: T.handle, var_relu: T.handle, b: T.int64):
        x = T.match_buffer(var_x, (T.min(b, T.int64(2147483647)), 5))
        relu = T.match_buffer(var_relu, (T.min(b, T.int64(2147483647)), 5))
        # with T.block("root"):
        for i0, i1 in T.grid(T.min(b, T.int64(2147483647)), T.int64(5)):
            with T.block("relu"):
                v_i0, v_i1 = T.axis.remap("SS", [i0, i1])
                T.reads(x[v_i0, v_i1])
                T.writes(relu[v_i0, v_i1])
                relu[v_i0, v_i1] = T.max(x[v_i0, v_i1], T.float32(0))

    @T.prim_func(private=True)
    def strided_slice(var_x: T.handle, var_strided_slice: T.handle):
        b = T.int64()
        x = T.match_buffer(var_x, (b, 5))
        strided_slice = T.match_buffer(var_strided_slice, (T.min(b, T.int64(2147483647)), 5))
        # with T.block("root"):
        for i0, i1 in T.grid(T.min(b, T.int64(2147483647)), T.int64(5)):
            with T.block("strided_slice"):
                v_i0, v_i1 = T.axis.remap("SS", [i0, i1])
                T.reads(x[v_i0 + T.int64(0), v_i1])
                T.writes(strided_slice[v_i0, v_i1])
                strided_slice[v_i0, v_i1] = x[v_i0 + T.int64(0), v_i1]

    @R.function
    def main(x: R.Tensor(("b", 5), dtype="float32")) -> R.Tensor(("T.min(b, 2147483647)", 5), dtype="float32"):
        b = T.int64()
        R.func_attr({"relax.force_pure": True})
        cls = Module
        storage: R.Object = R.memory.alloc_storage(R.shape([20 * T.min(b, 2147483647)]), R.prim_value(0), R.str("global"), R.dtype("float32"))
        alloc: R.Tensor((T.min(b, 2147483647), 5), dtype="float32") = R.memory.alloc_tensor(storage, R.prim_value(0), R.shape([T.min(b, 2147483647), 5]), R.dtype("float32"), R.prim_value(0))
        cls.strided_slice(x, alloc)
        y: R.Tensor((T.min(b, 2147483647), 5), dtype="float32") = alloc
        storage_1: R.Object = R.memory.alloc_storage(R.shape([20 * T.min(b, 2147483647)]), R.prim_value(0), R.str("global"), R.dtype("float32"))
        alloc_1: R.Tensor((T.min(b, 2147483647), 5), dtype="float32") = R.memory.alloc_tensor(storage_1, R.prim_value(0), R.shape([T.min(b, 2147483647), 5]), R.dtype("float32"), R.prim_value(0))
        R.vm.call_tir_dyn(cls.relu, (y, alloc_1, R.shape([b])))
        z: R.Tensor((T.min(b, 2147483647), 5), dtype="float32") = alloc_1
        alloc_2: R.Tensor((T.min(b, 2147483647), 5), dtype="float32") = R.memory.alloc_tensor(storage, R.prim_value(0), R.shape([T.min(b, 2147483647), 5]), R.dtype("float32"), R.prim_value(0))
        R.vm.call_tir_dyn(cls.exp, (z, alloc_2, R.shape([b])))
        w: R.Tensor((T.min(b, 2147483647), 5), dtype="float32") = alloc_2
        return w
