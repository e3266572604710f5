# test: pass
# run: canonicalize_bindings
# Two checks that cannot both hold.

@I.ir_module
class Module:
    @R.function
    def main(x: R.Tensor((16,), "float32"), y: R.Tensor((32,), "float32")):
        n = T.int64()
        a = R.match_cast(x, R.Tensor((n,), "float32"))
        b = R.match_cast(y, R.Tensor((n,), "float32"))
        return (a, b)
# expect-error:
# `main`: the check `b` says that n is 32; a check before says 16
