# test: pass
# run: vm_shape_lower
# Dimensions that variables stand for fill the heap where a value is checked; a program computes the others from them at once.

@I.ir_module
class Module:
    @R.function
    def main(x: R.Tensor(("n", "m"), "float32"), pair: R.Tuple(R.Tensor(("n",), "float32"), R.Object), y: R.Tensor(ndim=2)) -> R.Shape(ndim=2):
        R.func_attr({"relax.force_pure": True})
        n = T.int64()
        m = T.int64()
        k = T.int64()
        z = R.match_cast(y, R.Tensor((k, n * m), "float32"))
        half = R.prim_value(k // 2)
        size = R.shape([n, k - 1])
        rows = R.shape([2, 3])
        return size

    @R.function
    def weights(x: R.Tensor((4,), "float32"), w: R.Tensor((4,), "float32"), v: R.Tensor(("c",), "float32")) -> R.Tensor(("c",), "float32"):
        R.func_attr({"num_input": 1, "relax.force_pure": True})
        return v
# expect:
# from tvm.script import ir as I
# from tvm.script import tir as T
# from tvm.script import relax as R

@I.ir_module
class Module:
    @T.prim_func(private=True)
    def shape_func(H: T.Buffer((6,), "int64")):
        T.func_attr({"tirx.is_host_func": True})
        # with T.block("root"):
        H[T.int64(3)] = H[T.int64(0)] * H[T.int64(1)]

    @T.prim_func(private=True)
    def shape_func1(H: T.Buffer((6,), "int64")):
        T.func_attr({"tirx.is_host_func": True})
        # with T.block("root"):
        H[T.int64(4)] = H[T.int64(2)] // T.int64(2)
        H[T.int64(5)] = H[T.int64(2)] - T.int64(1)

    @R.function
    def main(x: R.Tensor(("n", "m"), dtype="float32"), pair: R.Tuple(R.Tensor(("n",), dtype="float32"), R.Object), y: R.Tensor(ndim=2)) -> R.Shape(ndim=2):
        k = T.int64()
        m = T.int64()
        n = T.int64()
        R.func_attr({"relax.force_pure": True})
        cls = Module
        shape_heap: R.Tensor(dtype="int64", ndim=1) = R.call_builtin_with_ctx(R.ExternFunc("vm.builtin.alloc_shape_heap"), (R.prim_value(6),), sinfo_args=(R.Tensor(dtype="int64", ndim=1),))
        R.call_packed("vm.builtin.check_tensor_info", x, R.prim_value(2), R.dtype("float32"), R.str("ErrorContext(fn=main, loc=param[0], param=x, annotation=R.Tensor((n, m), dtype=\"float32\")) "), sinfo_args=(R.Tuple(),))
        R.call_packed("vm.builtin.check_tuple_info", pair, R.prim_value(2), R.str("ErrorContext(fn=main, loc=param[1], param=pair, annotation=R.Tuple(R.Tensor((n,), dtype=\"float32\"), R.Object)) "), sinfo_args=(R.Tuple(),))
        gv: R.Tensor((n,), dtype="float32") = pair[0]
        R.call_packed("vm.builtin.check_tensor_info", gv, R.prim_value(1), R.dtype("float32"), R.str("ErrorContext(fn=main, loc=param[1][0], param=pair, annotation=R.Tensor((n,), dtype=\"float32\")) "), sinfo_args=(R.Tuple(),))
        gv_1: R.Object = R.null_value()
        R.call_packed("vm.builtin.check_tensor_info", y, R.prim_value(2), gv_1, R.str("ErrorContext(fn=main, loc=param[2], param=y, annotation=R.Tensor(ndim=2)) "), sinfo_args=(R.Tuple(),))
        R.call_packed("vm.builtin.match_shape", x, shape_heap, R.prim_value(2), R.prim_value(1), R.prim_value(0), R.prim_value(1), R.prim_value(1), R.str("ErrorContext(fn=main, loc=param[0], param=x, annotation=R.Tensor((n, m), dtype=\"float32\")) "), sinfo_args=(R.Tuple(),))
        R.call_packed("vm.builtin.match_shape", gv, shape_heap, R.prim_value(1), R.prim_value(3), R.prim_value(0), R.str("ErrorContext(fn=main, loc=param[1][0], param=pair, annotation=R.Tensor((n,), dtype=\"float32\")) "), sinfo_args=(R.Tuple(),))
        cls.shape_func(shape_heap)
        R.call_packed("vm.builtin.check_tensor_info", y, R.prim_value(2), R.dtype("float32"), R.str("ErrorContext(fn=main, loc=match_cast, param=z, annotation=R.Tensor((k, n * m), dtype=\"float32\")) "), sinfo_args=(R.Tuple(),))
        R.call_packed("vm.builtin.match_shape", y, shape_heap, R.prim_value(2), R.prim_value(1), R.prim_value(2), R.prim_value(3), R.prim_value(3), R.str("ErrorContext(fn=main, loc=match_cast, param=z, annotation=R.Tensor((k, n * m), dtype=\"float32\")) "), sinfo_args=(R.Tuple(),))
        cls.shape_func1(shape_heap)
        z: R.Tensor((k, n * m), dtype="float32") = R.match_cast(y, R.Tensor((k, n * m), dtype="float32"))
        half: R.Prim(value=k // 2) = R.call_packed("vm.builtin.make_prim_value", shape_heap, R.prim_value(1), R.prim_value(4), sinfo_args=(R.Prim("int64"),))
        size: R.Shape([n, k - 1]) = R.call_packed("vm.builtin.make_shape", shape_heap, R.prim_value(2), R.prim_value(1), R.prim_value(0), R.prim_value(1), R.prim_value(5), sinfo_args=(R.Shape(ndim=2),))
        rows: R.Shape([2, 3]) = R.shape([2, 3])
        return size

    @R.function
    def weights(x: R.Tensor((4,), dtype="float32"), w: R.Tensor((4,), dtype="float32"), v: R.Tensor(("c",), dtype="float32")) -> R.Tensor(("c",), dtype="float32"):
        c = T.int64()
        R.func_attr({"num_input": 1, "relax.force_pure": True})
        shape_heap: R.Tensor(dtype="int64", ndim=1) = R.call_builtin_with_ctx(R.ExternFunc("vm.builtin.alloc_shape_heap"), (R.prim_value(1),), sinfo_args=(R.Tensor(dtype="int64", ndim=1),))
        R.call_packed("vm.builtin.check_tensor_info", x, R.prim_value(1), R.dtype("float32"), R.str("ErrorContext(fn=weights, loc=param[0], param=x, annotation=R.Tensor((4,), dtype=\"float32\")) "), sinfo_args=(R.Tuple(),))
        R.call_packed("vm.builtin.check_tensor_info", v, R.prim_value(1), R.dtype("float32"), R.str("ErrorContext(fn=weights, loc=param[2], param=v, annotation=R.Tensor((c,), dtype=\"float32\")) "), sinfo_args=(R.Tuple(),))
        R.call_packed("vm.builtin.match_shape", x, shape_heap, R.prim_value(1), R.prim_value(0), R.prim_value(4), R.str("ErrorContext(fn=weights, loc=param[0], param=x, annotation=R.Tensor((4,), dtype=\"float32\")) "), sinfo_args=(R.Tuple(),))
        R.call_packed("vm.builtin.match_shape", v, shape_heap, R.prim_value(1), R.prim_value(1), R.prim_value(0), R.str("ErrorContext(fn=weights, loc=param[2], param=v, annotation=R.Tensor((c,), dtype=\"float32\")) "), sinfo_args=(R.Tuple(),))
        return v
