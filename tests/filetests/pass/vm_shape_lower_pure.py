# test: pass
# run: vm_shape_lower
# The checks have side effects that nobody sees from outside: a pure function says so.

@I.ir_module
class Module:
    @R.function
    def main(x: R.Tensor(("n", 2), "float32")) -> R.Shape(ndim=1):
        n = T.int64()
        size = R.shape([n * 2])
        return size
# expect:
# from tvm.script import ir as I
# from tvm.script import tir as T
# from tvm.script import relax as R

@I.ir_module
class Module:
    @T.prim_func(private=True)
    def shape_func(H: T.Buffer((2,), "int64")):
        T.func_attr({"tirx.is_host_func": True})
        # with T.block("root"):
        H[T.int64(1)] = H[T.int64(0)] * T.int64(2)

    @R.function
    def main(x: R.Tensor(("n", 2), dtype="float32")) -> R.Shape(ndim=1):
        n = T.int64()
        R.func_attr({"relax.force_pure": True})
        cls = Module
        shape_heap: R.Tensor(dtype="int64", ndim=1) = R.call_builtin_with_ctx(R.ExternFunc("vm.builtin.alloc_shape_heap"), (R.prim_value(2),), sinfo_args=(R.Tensor(dtype="int64", ndim=1),))
        R.call_packed("vm.builtin.check_tensor_info", x, R.prim_value(2), R.dtype("float32"), R.str("ErrorContext(fn=main, loc=param[0], param=x, annotation=R.Tensor((n, 2), dtype=\"float32\")) "), sinfo_args=(R.Tuple(),))
        R.call_packed("vm.builtin.match_shape", x, shape_heap, R.prim_value(2), R.prim_value(1), R.prim_value(0), R.prim_value(0), R.prim_value(2), R.str("ErrorContext(fn=main, loc=param[0], param=x, annotation=R.Tensor((n, 2), dtype=\"float32\")) "), sinfo_args=(R.Tuple(),))
        cls.shape_func(shape_heap)
        size: R.Shape([n * 2]) = R.call_packed("vm.builtin.make_shape", shape_heap, R.prim_value(1), R.prim_value(1), R.prim_value(1), sinfo_args=(R.Shape(ndim=1),))
        return size
