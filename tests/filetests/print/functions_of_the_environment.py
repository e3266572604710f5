# test: print
# Functions that a module names and the environment has.

@I.ir_module
class Module:
    I.module_attrs({"base_py_module": True})

    @T.prim_func(private=True)
    def is_whole(n: T.int64) -> T.bool:
        return n % T.int64(16) == T.int64(0)

    sort = R.ExternFunc("my.sort")
    norm = R.ExternFunc("norm", R.Callable((R.Tensor((4,), "float32"),), R.Tensor((4,), "float32"), True))

    @R.function(pure=False)
    def main(x: R.Tensor((4,), "float32"), y: R.Tensor(("n",), "float32")) -> R.Tensor((4,), "float32"):
        n = T.int64()
        cls = Module
        whole: T.bool = cls.is_whole(n)
        _ = R.assert_op(whole, format=R.str("n"))
        local: R.Callable = R.ExternFunc("local.sort")
        a = R.call_dps_packed(local, (x,), out_ty=R.Tensor((4,), "float32"))
        b = R.call_dps_packed(cls.sort, (a,), out_ty=R.Tensor((4,), "float32"))
        c: R.Tensor((4,), "float32") = cls.norm(b)
        return c
# expect:
# from tvm.script import ir as I
# from tvm.script import tir as T
# from tvm.script import relax as R

@I.ir_module
class Module:
    I.module_attrs({"base_py_module": True})
    sort = R.ExternFunc("my.sort")
    norm = R.ExternFunc("norm", R.Callable((R.Tensor((4,), dtype="float32"),), R.Tensor((4,), dtype="float32"), True))
    @T.prim_func(private=True)
    def is_whole(n: T.int64) -> T.bool:
        # with T.block("root"):
        return n % T.int64(16) == T.int64(0)

    @R.function(pure=False)
    def main(x: R.Tensor((4,), dtype="float32"), y: R.Tensor(("n",), dtype="float32")) -> R.Tensor((4,), dtype="float32"):
        n = T.int64()
        cls = Module
        whole: R.Prim("bool") = cls.is_whole(R.prim_value(n))
        R.assert_op(whole, format="n")
        local: R.Callable(None, R.Object, False) = R.ExternFunc("local.sort")
        a = R.call_dps_packed("local.sort", (x,), out_sinfo=R.Tensor((4,), dtype="float32"))
        b = R.call_dps_packed("my.sort", (a,), out_sinfo=R.Tensor((4,), dtype="float32"))
        c: R.Tensor((4,), dtype="float32") = cls.norm(b)
        return c
