# test: pass
# run: vm_shape_lower {"emit_err_ctx": false}
# A branch fills slots for itself alone. A function inside captures the dimensions that it uses of the function around.

@I.ir_module
class Module:
    @R.function
    def main(x: R.Tensor(("n",), "float32"), y: R.Tensor(ndim=1, dtype="float32"), c: R.Tensor((), "bool")) -> R.Shape(ndim=2):
        R.func_attr({"relax.force_pure": True})
        n = T.int64()
        k = T.int64()
        if c:
            first = R.match_cast(y, R.Tensor((k,), "float32"))
            s = R.shape([k, n])
        else:
            second = R.match_cast(y, R.Tensor((k,), "float32"))
            s = R.shape([k + 1, n])

        @R.function
        def inner(a: R.Tensor(("n",), "float32")) -> R.Shape(ndim=2):
            R.func_attr({"relax.force_pure": True})
            t = R.shape([n, n * 2])
            return t

        u = inner(x)
        return u
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
        H[T.int64(2)] = H[T.int64(1)] + T.int64(1)

    @T.prim_func(private=True)
    def shape_func1(H: T.Buffer((2,), "int64")):
        T.func_attr({"tirx.is_host_func": True})
        # with T.block("root"):
        H[T.int64(1)] = H[T.int64(0)] * T.int64(2)

    @R.function
    def main(x: R.Tensor(("n",), dtype="float32"), y: R.Tensor(dtype="float32", ndim=1), c: R.Tensor((), dtype="bool")) -> R.Shape(ndim=2):
        k = T.int64()
        n = T.int64()
        R.func_attr({"relax.force_pure": True})
        cls = Module
        shape_heap: R.Tensor(dtype="int64", ndim=1) = R.call_builtin_with_ctx(R.ExternFunc("vm.builtin.alloc_shape_heap"), (R.prim_value(3),), sinfo_args=(R.Tensor(dtype="int64", ndim=1),))
        R.call_packed("vm.builtin.check_tensor_info", x, R.prim_value(1), R.dtype("float32"), R.str(""), sinfo_args=(R.Tuple(),))
        R.call_packed("vm.builtin.check_tensor_info", y, R.prim_value(1), R.dtype("float32"), R.str(""), sinfo_args=(R.Tuple(),))
        R.call_packed("vm.builtin.check_tensor_info", c, R.prim_value(0), R.dtype("bool"), R.str(""), sinfo_args=(R.Tuple(),))
        R.call_packed("vm.builtin.match_shape", x, shape_heap, R.prim_value(1), R.prim_value(1), R.prim_value(0), R.str(""), sinfo_args=(R.Tuple(),))
        if c:
            R.call_packed("vm.builtin.match_shape", y, shape_heap, R.prim_value(1), R.prim_value(1), R.prim_value(1), R.str(""), sinfo_args=(R.Tuple(),))
            cls.shape_func(shape_heap)
            first: R.Tensor((k,), dtype="float32") = R.match_cast(y, R.Tensor((k,), dtype="float32"))
            gv: R.Shape(ndim=2) = R.call_packed("vm.builtin.make_shape", shape_heap, R.prim_value(2), R.prim_value(1), R.prim_value(1), R.prim_value(1), R.prim_value(0), sinfo_args=(R.Shape(ndim=2),))
            s: R.Shape(ndim=2) = gv
        else:
            R.call_packed("vm.builtin.match_shape", y, shape_heap, R.prim_value(1), R.prim_value(1), R.prim_value(1), R.str(""), sinfo_args=(R.Tuple(),))
            cls.shape_func(shape_heap)
            second: R.Tensor((k,), dtype="float32") = R.match_cast(y, R.Tensor((k,), dtype="float32"))
            gv_1: R.Shape(ndim=2) = R.call_packed("vm.builtin.make_shape", shape_heap, R.prim_value(2), R.prim_value(1), R.prim_value(2), R.prim_value(1), R.prim_value(0), sinfo_args=(R.Shape(ndim=2),))
            s: R.Shape(ndim=2) = gv_1
        gv_2: R.Prim("int64") = R.call_packed("vm.builtin.make_prim_value", shape_heap, R.prim_value(1), R.prim_value(0), sinfo_args=(R.Prim("int64"),))
        @R.function
        def inner(a: R.Tensor(("n",), dtype="float32")) -> R.Shape(ndim=2):
            R.func_attr({"relax.force_pure": True})
            shape_heap_1: R.Tensor(dtype="int64", ndim=1) = R.call_builtin_with_ctx(R.ExternFunc("vm.builtin.alloc_shape_heap"), (R.prim_value(2),), sinfo_args=(R.Tensor(dtype="int64", ndim=1),))
            R.call_packed("vm.builtin.match_prim_value", gv_2, shape_heap_1, R.prim_value(1), R.prim_value(0), R.str(""), sinfo_args=(R.Tuple(),))
            R.call_packed("vm.builtin.check_tensor_info", a, R.prim_value(1), R.dtype("float32"), R.str(""), sinfo_args=(R.Tuple(),))
            R.call_packed("vm.builtin.match_shape", a, shape_heap_1, R.prim_value(1), R.prim_value(3), R.prim_value(0), R.str(""), sinfo_args=(R.Tuple(),))
            cls.shape_func1(shape_heap_1)
            t: R.Shape([n, n * 2]) = R.call_packed("vm.builtin.make_shape", shape_heap_1, R.prim_value(2), R.prim_value(1), R.prim_value(0), R.prim_value(1), R.prim_value(1), sinfo_args=(R.Shape(ndim=2),))
            return t
        u: R.Shape(ndim=2) = inner(x)
        return u
