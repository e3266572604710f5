# test: pass
# run: vm_shape_lower
# The memory of a function may be planned for the largest size, so a call with a larger one is refused at the start.

@I.ir_module
class Module:
    @R.function
    def main(x: R.Tensor(("n", "m"), "float32")) -> R.Tensor(("n", "m"), "float32"):
        R.func_attr({"relax.force_pure": True, "tir_var_upper_bound": {"m": 64}})
        return x
# expect:
# from tvm.script import ir as I
# from tvm.script import tir as T
# from tvm.script import relax as R

@I.ir_module
class Module:
    @T.prim_func(private=True)
    def shape_func(H: T.Buffer((3,), "int64")):
        T.func_attr({"tirx.is_host_func": True})
        # with T.block("root"):
        H[T.int64(2)] = T.min(H[T.int64(1)], T.int64(64))

    @R.function
    def main(x: R.Tensor(("n", "m"), dtype="float32")) -> R.Tensor(("n", "m"), dtype="float32"):
        m = T.int64()
        n = T.int64()
        R.func_attr({"relax.force_pure": True, "tir_var_upper_bound": {"m": 64}})
        cls = Module
        shape_heap: R.Tensor(dtype="int64", ndim=1) = R.call_builtin_with_ctx(R.ExternFunc("vm.builtin.alloc_shape_heap"), (R.prim_value(3),), sinfo_args=(R.Tensor(dtype="int64", ndim=1),))
        R.call_packed("vm.builtin.check_tensor_info", x, R.prim_value(2), R.dtype("float32"), R.str("ErrorContext(fn=main, loc=param[0], param=x, annotation=R.Tensor((n, m), dtype=\"float32\")) "), sinfo_args=(R.Tuple(),))
        R.call_packed("vm.builtin.match_shape", x, shape_heap, R.prim_value(2), R.prim_value(1), R.prim_value(0), R.prim_value(1), R.prim_value(1), R.str("ErrorContext(fn=main, loc=param[0], param=x, annotation=R.Tensor((n, m), dtype=\"float32\")) "), sinfo_args=(R.Tuple(),))
        cls.shape_func(shape_heap)
        gv: R.Prim("int64") = R.call_packed("vm.builtin.make_prim_value", shape_heap, R.prim_value(1), R.prim_value(1), sinfo_args=(R.Prim("int64"),))
        R.call_packed("vm.builtin.match_prim_value", gv, shape_heap, R.prim_value(3), R.prim_value(2), R.str("ErrorContext(fn=main, loc=tir_var_upper_bound, param=m must be at most 64, annotation=R.Prim(value=64)) "), sinfo_args=(R.Tuple(),))
        return x
