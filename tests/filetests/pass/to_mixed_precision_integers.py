# test: pass
# run: to_mixed_precision {"out_dtype": "float32"}
# A product of integers stays as it is: in float16 its sums would be wrong. What follows it may be a product of floats.

@I.ir_module
class Module:
    @R.function
    def main(x: R.Tensor((4, 8), "int8"), w: R.Tensor((8, 8), "int8"), f: R.Tensor((8, 4), "float32")):
        with R.dataflow():
            a = R.matmul(x, w, out_dtype="int32")
            b = R.astype(a, "float32")
            c = R.matmul(b, f)
            R.output(a, c)
        return (a, c)
# expect:
# from tvm.script import ir as I
# from tvm.script import relax as R

@I.ir_module
class Module:
    @R.function
    def main(x: R.Tensor((4, 8), dtype="int8"), w: R.Tensor((8, 8), dtype="int8"), f: R.Tensor((8, 4), dtype="float32")) -> R.Tuple(R.Tensor((4, 8), dtype="int32"), R.Tensor((4, 4), dtype="float32")):
        with R.dataflow():
            lv: R.Tensor((8, 4), dtype="float16") = R.astype(f, dtype=R.dtype("float16"))
            a: R.Tensor((4, 8), dtype="int32") = R.matmul(x, w, out_dtype=R.dtype("int32"))
            b: R.Tensor((4, 8), dtype="float32") = R.astype(a, dtype=R.dtype("float32"))
            lv_1: R.Tensor((4, 8), dtype="float16") = R.astype(b, dtype=R.dtype("float16"))
            c: R.Tensor((4, 4), dtype="float32") = R.matmul(lv_1, lv, out_dtype=R.dtype("float32"))
            R.output(a, c)
        return (a, c)
