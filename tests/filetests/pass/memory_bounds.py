# test: pass
# run: static_plan_block_memory

@I.ir_module
class Module:
    @R.function
    def main(x: R.Tensor(("n",), "float32")) -> R.Tensor(("n",), "float32"):
        R.func_attr({"tir_var_upper_bound": {"n": -16}})
        return x
# expect-error:
# `main`: the attribute `tir_var_upper_bound` is no map from names of extents to integers, which are not negative
