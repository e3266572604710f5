# test: print
# Integers of graphs are int64 where nothing else is said, alone and beside other operands.

@I.ir_module
class Module:
    @R.function
    def main(x: R.Tensor(("n", 4), "float32"), p: R.Prim(value=T.int32(7))):
        n = T.int64()
        a = R.shape([5, n + 7, T.Add(T.int64(2), T.int64(3)), T.min(n, 4)])
        b = R.prim_value(T.Cast("int32", T.int64(5)))
        c = R.prim_value(T.int32(8))
        d = R.prim_value(T.Add(2, 3))
        return R.tuple(a, b, c, d)
# expect:
# from tvm.script import ir as I
# from tvm.script import tir as T
# from tvm.script import relax as R

@I.ir_module
class Module:
    @R.function
    def main(x: R.Tensor(("n", 4), dtype="float32"), p: R.Prim(value=T.int32(7))) -> R.Tuple(R.Shape([5, "n + 7", "T.Add(T.int64(2), T.int64(3))", "T.min(n, 4)"]), R.Prim(value='T.Cast("int32", T.int64(5))'), R.Prim(value=T.int32(8)), R.Prim(value="T.Add(2, 3)")):
        n = T.int64()
        a: R.Shape([5, n + 7, T.Add(T.int64(2), T.int64(3)), T.min(n, 4)]) = R.shape([5, n + 7, T.Add(T.int64(2), T.int64(3)), T.min(n, 4)])
        b: R.Prim(value=T.Cast("int32", T.int64(5))) = R.prim_value(T.Cast("int32", T.int64(5)))
        c: R.Prim(value=T.int32(8)) = R.prim_value(T.int32(8))
        d: R.Prim(value=T.Add(2, 3)) = R.prim_value(T.Add(2, 3))
        return (a, b, c, d)
