# test: pass
# run: realize_vdevice

@I.ir_module
class Module:
    I.module_global_infos({"vdevice": [I.vdevice("llvm", 0)]})

    @R.function
    def main(x: R.Tensor((2, 3), "float32")) -> R.Tensor((2, 3), "float32"):
        a = R.hint_on_device(x, R.device(7, 0))
        return a
# expect-error:
# `main`: `a` is of no device of the module; it has: llvm:0:global
