# test: pass
# run: bind_symbolic_vars {"binding": {"n": 4}}
# A name is bound in every function that has it; extents that follow from it are numbers too.

@I.ir_module
class Module:
    @R.function
    def main(x: R.Tensor(("n", "m"), "float32")) -> R.Tensor(("n * 2", "m"), "float32"):
        n, m = T.int64(), T.int64()
        with R.dataflow():
            y = R.concat((x, x))
            z = R.add(y, R.zeros(R.shape([n * 2, m]), "float32"))
            R.output(z)
        return z

    @R.function
    def other(x: R.Tensor(("n",), "float32"), k: R.Shape(["m"])) -> R.Tensor(("n",), "float32"):
        y = R.exp(x)
        return y
# expect:
# from tvm.script import ir as I
# from tvm.script import tir as T
# from tvm.script import relax as R

@I.ir_module
class Module:
    @R.function
    def main(x: R.Tensor((4, "m"), dtype="float32")) -> R.Tensor((8, "m"), dtype="float32"):
        m = T.int64()
        with R.dataflow():
            y: R.Tensor((8, m), dtype="float32") = R.concat((x, x), axis=0)
            lv: R.Tensor((8, m), dtype="float32") = R.zeros(R.shape([8, m]), dtype=R.dtype("float32"))
            z: R.Tensor((8, m), dtype="float32") = R.add(y, lv)
            R.output(z)
        return z

    @R.function
    def other(x: R.Tensor((4,), dtype="float32"), k: R.Shape(["m"])) -> R.Tensor((4,), dtype="float32"):
        m = T.int64()
        y: R.Tensor((4,), dtype="float32") = R.exp(x)
        return y
