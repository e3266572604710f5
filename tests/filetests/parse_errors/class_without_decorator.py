# test: parse
class Module:
    pass
# expect-error:
# error: a class without a decorator cannot be used here
#   --> class_without_decorator.py:2:7
#   |
# 2 | class Module:
#   |       ^^^^^^
#   |
#   = mark a module with `@I.ir_module`
