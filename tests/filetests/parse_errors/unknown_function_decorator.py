# test: parse
@T.primfunc
def main(A: T.Buffer((16,), "float32")):
    A[0] = 1.0
# expect-error:
# error: unknown decorator `T.primfunc`
#   --> unknown_function_decorator.py:2:2
#   |
# 2 | @T.primfunc
#   |  ^^^^^^^^^^
#   |
#   = `@I.ir_module` marks a module, `@T.prim_func` a loop program, `@R.function` a graph function
