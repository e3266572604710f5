# test: pass
# run: lift_transform_params
# Who calls a function passes its weights as they are.

@I.ir_module
class Module:
    @R.function
    def twice(x: R.Tensor((4,), "float32"), w: R.Tensor((4,), "float32")) -> R.Tensor((4,), "float32"):
        cls = Module
        y = cls.main(x, w)
        z = cls.main(y, w)
        return z

    @R.function
    def main(x: R.Tensor((4,), "float32"), w: R.Tensor((4,), "float32")) -> R.Tensor((4,), "float32"):
        R.func_attr({"num_input": 1})
        y = R.add(x, w)
        return y
# expect-error:
# `main` is called by `twice`, so its parameters cannot be taken away
