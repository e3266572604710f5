# test: pass
# run: vm_shape_lower
# A shape heap holds integers.

@I.ir_module
class Module:
    @R.function
    def main(x: R.Tensor(("n",), "float32")) -> R.Prim("float32"):
        R.func_attr({"relax.force_pure": True})
        n = T.int64()
        half = R.prim_value(T.Cast("float32", n) / T.float32(2))
        return half
# expect-error:
# `main`, `half`: `T.Cast("float32", n) / T.float32(2)` is no integer, and the shape heap holds nothing else
