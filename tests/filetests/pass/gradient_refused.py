# test: pass
# run: gradient {"func_name": "main"}

@I.ir_module
class Module:
    @R.function
    def main(x: R.Tensor((3,), "float32")) -> R.Tensor((), "float32"):
        with R.dataflow():
            a = R.round(x)
            l = R.sum(a)
            R.output(l)
        return l
# expect-error:
# `main` cannot be differentiated: value `a`: R.round has no derivative here
