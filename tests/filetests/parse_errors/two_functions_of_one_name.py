# test: parse
@I.ir_module
class Module:
    @T.prim_func
    def f(A: T.Buffer((1,), "float32")):
        A[0] = 1.0

    @T.prim_func
    def f(A: T.Buffer((1,), "float32")):
        A[0] = 2.0
# expect-error:
# error: `f` is defined twice
#   --> two_functions_of_one_name.py:9:9
#   |
# 9 |     def f(A: T.Buffer((1,), "float32")):
#   |         ^
