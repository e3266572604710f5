# test: pass
# run: lift_transform_params
# Weights must be parameters.

@I.ir_module
class Module:
    @R.function
    def main(x: R.Tensor((4,), "float32"), w: R.Tensor((4,), "float32")) -> R.Tensor((4,), "float32"):
        R.func_attr({"num_input": 3})
        y = R.add(x, w)
        return y
# expect-error:
# `main` has 2 parameters, and `num_input` is 3
