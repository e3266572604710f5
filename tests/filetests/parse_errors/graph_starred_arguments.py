# test: parse
@I.ir_module
class Module:
    @R.function
    def f(x: R.Tensor((4,), "float32")):
        return x

    @R.function
    def main(x: R.Tensor((4,), "float32")):
        cls = Module
        a = R.add(*x, x)
        b = cls.f(*x)
        c = R.tuple(x, *x)
        with R.dataflow():
            y = R.add(x, x)
            R.output(*y)
        return (y, *y)
# expect-error:
# error: `*` in arguments cannot be used here
#    --> graph_starred_arguments.py:11:19
#    |
# 11 |         a = R.add(*x, x)
#    |                   ^^
#
# error: `*` in arguments cannot be used here
#    --> graph_starred_arguments.py:12:19
#    |
# 12 |         b = cls.f(*x)
#    |                   ^^
#
# error: `*` in arguments cannot be used here
#    --> graph_starred_arguments.py:13:24
#    |
# 13 |         c = R.tuple(x, *x)
#    |                        ^^
#
# error: `*` in arguments cannot be used here
#    --> graph_starred_arguments.py:16:22
#    |
# 16 |             R.output(*y)
#    |                      ^^
#
# error: `*` in arguments cannot be used here
#    --> graph_starred_arguments.py:17:20
#    |
# 17 |         return (y, *y)
#    |                    ^^
