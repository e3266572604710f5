# test: pass
# run: lazy_set_output
# Each result is handed on after its binding, one of a dataflow block after the block, a parameter first, a constant last.

@I.ir_module
class Module:
    @R.function
    def main(x: R.Tensor((4,), "float32"), w: R.Tensor((4,), "float32")):
        R.func_attr({"num_input": 1})
        with R.dataflow():
            a = R.add(x, w)
            b = R.multiply(a, w)
            R.output(a, b)
        c = R.negative(b)
        d = R.exp(c)
        return (c, R.const(1.0, "float32"), b, w, d, b)
# expect:
# from tvm.script import ir as I
# from tvm.script import relax as R

@I.ir_module
class Module:
    @R.function(pure=False)
    def main(x: R.Tensor((4,), dtype="float32"), fset_output: R.Callable((R.Prim("int64"), R.Object), R.Tuple(), False), w: R.Tensor((4,), dtype="float32")) -> R.Tuple():
        R.func_attr({"num_input": 2})
        _void: R.Tuple() = fset_output(R.prim_value(3), w)
        with R.dataflow():
            a: R.Tensor((4,), dtype="float32") = R.add(x, w)
            b: R.Tensor((4,), dtype="float32") = R.multiply(a, w)
            R.output(a, b)
        _void_1: R.Tuple() = fset_output(R.prim_value(2), b)
        _void_2: R.Tuple() = fset_output(R.prim_value(5), b)
        c: R.Tensor((4,), dtype="float32") = R.negative(b)
        _void_3: R.Tuple() = fset_output(R.prim_value(0), c)
        d: R.Tensor((4,), dtype="float32") = R.exp(c)
        _void_4: R.Tuple() = fset_output(R.prim_value(4), d)
        _void_5: R.Tuple() = fset_output(R.prim_value(1), R.const(1.0, "float32"))
        return R.tuple()
