# test: pass
# run: lift_transform_params {"shared_transform": ["decode", "prefill"]}
# Functions can share only what is the same.

@I.ir_module
class Module:
    @R.function
    def decode(x: R.Tensor((1, 4), "float32"), w: R.Tensor((4, 4), "float32")) -> R.Tensor((1, 4), "float32"):
        R.func_attr({"num_input": 1})
        y = R.matmul(x, w)
        return y

    @R.function
    def prefill(x: R.Tensor((8, 4), "float32"), w: R.Tensor((4, 4), "float16")) -> R.Tensor((8, 4), "float32"):
        R.func_attr({"num_input": 1})
        v = R.astype(w, "float32")
        y = R.matmul(x, v)
        return y
# expect-error:
# weight `w` of `prefill` is R.Tensor((4, 4), dtype="float16"), and that of `decode`, which shares it, R.Tensor((4, 4), dtype="float32")
