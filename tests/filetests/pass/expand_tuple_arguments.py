# test: pass
# run: expand_tuple_arguments
# Elements of tuples are passed, also of those inside. A tuple that is used as a whole is made again.

@I.ir_module
class Module:
    @R.function(private=True)
    def f(t: R.Tuple(R.Tuple(R.Tensor((4,), "float32"), R.Tensor((4,), "float32")), R.Tensor((4,), "float32"))):
        a = t[0]
        b = a[1]
        c = t[1]
        d = R.add(b, c)
        return (a, d)

    @R.function
    def main(x: R.Tensor((4,), "float32"), t: R.Tuple(R.Tensor((4,), "float32"), R.Tensor((4,), "float32"))):
        y = Module.f((t, x))
        return y
# expect:
# from tvm.script import ir as I
# from tvm.script import relax as R

@I.ir_module
class Module:
    @R.function(private=True)
    def f(t_0_0: R.Tensor((4,), dtype="float32"), t_0_1: R.Tensor((4,), dtype="float32"), t_1: R.Tensor((4,), dtype="float32")) -> R.Tuple(R.Tuple(R.Tensor((4,), dtype="float32"), R.Tensor((4,), dtype="float32")), R.Tensor((4,), dtype="float32")):
        t_0: R.Tuple(R.Tensor((4,), dtype="float32"), R.Tensor((4,), dtype="float32")) = (t_0_0, t_0_1)
        d: R.Tensor((4,), dtype="float32") = R.add(t_0_1, t_1)
        return (t_0, d)

    @R.function
    def main(x: R.Tensor((4,), dtype="float32"), t: R.Tuple(R.Tensor((4,), dtype="float32"), R.Tensor((4,), dtype="float32"))) -> R.Tuple(R.Tuple(R.Tensor((4,), dtype="float32"), R.Tensor((4,), dtype="float32")), R.Tensor((4,), dtype="float32")):
        cls = Module
        gv: R.Tensor((4,), dtype="float32") = t[0]
        gv_1: R.Tensor((4,), dtype="float32") = t[1]
        y: R.Tuple(R.Tuple(R.Tensor((4,), dtype="float32"), R.Tensor((4,), dtype="float32")), R.Tensor((4,), dtype="float32")) = cls.f(gv, gv_1, x)
        return y
