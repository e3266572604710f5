# test: parse
@I.ir_module
class First:
    pass

@I.ir_module
class Second:
    pass
# expect-error:
# error: a second module cannot be used here
#   --> two_modules.py:6:1
#   |
# 6 | @I.ir_module
#   | ^^^^^^^^^^^^
#   |
#   = write one module in a script
