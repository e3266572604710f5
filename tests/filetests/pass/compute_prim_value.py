# test: pass
# run: compute_prim_value
# Conditions and operands that are arithmetic on sizes are computed by programs, equal ones by one; sizes, constants and shapes stay.

@I.ir_module
class Module:
    @R.function
    def main(x: R.Tensor(("n",), "float32")) -> R.Tensor(("n",), "float32"):
        n = T.int64()
        if n % 16 == 0:
            y = R.negative(x)
        else:
            if n * 2 > 30:
                y = R.exp(x)
            else:
                y = R.abs(x)
        return y

    @R.function
    def other(x: R.Tensor(("m",), "float32")) -> R.Tensor(("m",), "float32"):
        m = T.int64()
        if m % 16 == 0:
            y = R.exp(x)
        else:
            y = x
        return y
# expect:
# from tvm.script import ir as I
# from tvm.script import tir as T
# from tvm.script import relax as R

@I.ir_module
class Module:
    @T.prim_func(private=True)
    def compute_symbolic_expr(n: T.int64) -> T.bool:
        T.func_attr({"tirx.is_host_func": True})
        # with T.block("root"):
        return n * T.int64(2) > T.int64(30)

    @T.prim_func(private=True)
    def compute_symbolic_expr1(n: T.int64) -> T.bool:
        T.func_attr({"tirx.is_host_func": True})
        # with T.block("root"):
        return n % T.int64(16) == T.int64(0)

    @R.function
    def main(x: R.Tensor(("n",), dtype="float32")) -> R.Tensor(("n",), dtype="float32"):
        n = T.int64()
        cls = Module
        gv: R.Prim("bool") = cls.compute_symbolic_expr1(R.prim_value(n))
        if gv:
            y_then: R.Tensor((n,), dtype="float32") = R.negative(x)
            y: R.Tensor((n,), dtype="float32") = y_then
        else:
            gv_1: R.Prim("bool") = cls.compute_symbolic_expr(R.prim_value(n))
            if gv_1:
                y_then_1: R.Tensor((n,), dtype="float32") = R.exp(x)
                y_1: R.Tensor((n,), dtype="float32") = y_then_1
            else:
                y_else: R.Tensor((n,), dtype="float32") = R.abs(x)
                y_1: R.Tensor((n,), dtype="float32") = y_else
            y: R.Tensor((n,), dtype="float32") = y_1
        return y

    @R.function
    def other(x: R.Tensor(("m",), dtype="float32")) -> R.Tensor(("m",), dtype="float32"):
        m = T.int64()
        cls = Module
        gv: R.Prim("bool") = cls.compute_symbolic_expr1(R.prim_value(m))
        if gv:
            y_then: R.Tensor((m,), dtype="float32") = R.exp(x)
            y: R.Tensor((m,), dtype="float32") = y_then
        else:
            y: R.Tensor((m,), dtype="float32") = x
        return y
