# test: pass
# run: bind_symbolic_vars {"binding": {"q": 4}}
# A name that no function has is an error.

@I.ir_module
class Module:
    @R.function
    def main(x: R.Tensor(("n", "m"), "float32")) -> R.Tensor(("n", "m"), "float32"):
        y = R.exp(x)
        return y
# expect-error:
# there is no symbolic dimension `q`; there are: n, m
