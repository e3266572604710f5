# test: print
# An index map as an attribute, constants without a literal, types under other names.

@R.function
def main(x: R.Tensor((16,), "float32")) -> R.Tensor((4, 4), "float32"):
    m = TypeVar("m")
    low = R.maximum(x, R.const("-inf", "float32"))
    high = R.minimum(low, R.const(float("inf"), "float32"))
    y = R.layout_transform(low, index_map=T.index_map(lambda i: (i // 4, i % 4)), pad_value=None)
    flat = R.layout_transform(y, index_map=T.index_map(lambda a, b: (a * 4 + b,)))
    z = R.call_pure_packed("f", y, ty_args=(R.Tensor((4, 4), dtype="float32"),))
    return z
# expect:
# from tvm.script import ir as I
# from tvm.script import relax as R

@I.ir_module
class Module:
    @R.function
    def main(x: R.Tensor((16,), dtype="float32")) -> R.Tensor((4, 4), dtype="float32"):
        low: R.Tensor((16,), dtype="float32") = R.maximum(x, R.const("-inf", "float32"))
        high: R.Tensor((16,), dtype="float32") = R.minimum(low, R.const("inf", "float32"))
        y: R.Tensor((4, 4), dtype="float32") = R.layout_transform(low, index_map=T.index_map(lambda i: (i // T.int64(4), i % T.int64(4))))
        flat: R.Tensor((16,), dtype="float32") = R.layout_transform(y, index_map=T.index_map(lambda a, b: a * T.int64(4) + b))
        z: R.Tensor((4, 4), dtype="float32") = R.call_pure_packed("f", y, sinfo_args=(R.Tensor((4, 4), dtype="float32"),))
        return z
