# test: parse
@I.module
class Module:
    pass
# expect-error:
# error: unknown decorator `I.module`
#   --> unknown_module_decorator.py:2:2
#   |
# 2 | @I.module
#   |  ^^^^^^^^
#   |
#   = `@I.ir_module` marks a module, `@T.prim_func` a loop program, `@R.function` a graph function
