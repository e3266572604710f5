# test: parse
@I.ir_module
class Module:
    @R.function
    def main(c: R.Tensor((), "bool"), x: R.Tensor((4,), "float32")):
        if c:
            y = R.add(x, x)
        elif c:
            y = R.add(x, x)
        elif c:
            y = R.add(x, x)
        elif c:
            y = R.add(x, x)
        elif c:
            y = R.add(x, x)
        elif c:
            y = R.add(x, x)
        elif c:
            y = R.add(x, x)
        elif c:
            y = R.add(x, x)
        elif c:
            y = R.add(x, x)
        elif c:
            y = R.add(x, x)
        elif c:
            y = R.add(x, x)
        elif c:
            y = R.add(x, x)
        elif c:
            y = R.add(x, x)
        elif c:
            y = R.add(x, x)
        elif c:
            y = R.add(x, x)
        elif c:
            y = R.add(x, x)
        elif c:
            y = R.add(x, x)
        elif c:
            y = R.add(x, x)
        elif c:
            y = R.add(x, x)
        elif c:
            y = R.add(x, x)
        elif c:
            y = R.add(x, x)
        elif c:
            y = R.add(x, x)
        elif c:
            y = R.add(x, x)
        elif c:
            y = R.add(x, x)
        elif c:
            y = R.add(x, x)
        elif c:
            y = R.add(x, x)
        elif c:
            y = R.add(x, x)
        elif c:
            y = R.add(x, x)
        elif c:
            y = R.add(x, x)
        elif c:
            y = R.add(x, x)
        elif c:
            y = R.add(x, x)
        elif c:
            y = R.add(x, x)
        elif c:
            y = R.add(x, x)
        elif c:
            y = R.add(x, x)
        elif c:
            y = R.add(x, x)
        elif c:
            y = R.add(x, x)
        elif c:
            y = R.add(x, x)
        elif c:
            y = R.add(x, x)
        elif c:
            y = R.add(x, x)
        elif c:
            y = R.add(x, x)
        elif c:
            y = R.add(x, x)
        elif c:
            y = R.add(x, x)
        elif c:
            y = R.add(x, x)
        elif c:
            y = R.add(x, x)
        elif c:
            y = R.add(x, x)
        elif c:
            y = R.add(x, x)
        elif c:
            y = R.add(x, x)
        elif c:
            y = R.add(x, x)
        elif c:
            y = R.add(x, x)
        elif c:
            y = R.add(x, x)
        elif c:
            y = R.add(x, x)
        elif c:
            y = R.add(x, x)
        elif c:
            y = R.add(x, x)
        elif c:
            y = R.add(x, x)
        elif c:
            y = R.add(x, x)
        elif c:
            y = R.add(x, x)
        elif c:
            y = R.add(x, x)
        elif c:
            y = R.add(x, x)
        elif c:
            y = R.add(x, x)
        elif c:
            y = R.add(x, x)
        elif c:
            y = R.add(x, x)
        elif c:
            y = R.add(x, x)
        elif c:
            y = R.add(x, x)
        elif c:
            y = R.add(x, x)
        elif c:
            y = R.add(x, x)
        elif c:
            y = R.add(x, x)
        elif c:
            y = R.add(x, x)
        elif c:
            y = R.add(x, x)
        elif c:
            y = R.add(x, x)
        elif c:
            y = R.add(x, x)
        elif c:
            y = R.add(x, x)
        elif c:
            y = R.add(x, x)
        elif c:
            y = R.add(x, x)
        elif c:
            y = R.add(x, x)
        elif c:
            y = R.add(x, x)
        elif c:
            y = R.add(x, x)
        elif c:
            y = R.add(x, x)
        elif c:
            y = R.add(x, x)
        elif c:
            y = R.add(x, x)
        elif c:
            y = R.add(x, x)
        elif c:
            y = R.add(x, x)
        elif c:
            y = R.add(x, x)
        elif c:
            y = R.add(x, x)
        elif c:
            y = R.add(x, x)
        elif c:
            y = R.add(x, x)
        elif c:
            y = R.add(x, x)
        else:
            y = x
        return y
# expect-error:
# error: nesting is deeper than 80 levels
#     --> graph_deep_branches.py:166:14
#     |
# 166 |         elif c:
#     |              ^
#
# error: undefined name `y`
#     --> graph_deep_branches.py:180:16
#     |
# 180 |         return y
#     |                ^ not defined here
