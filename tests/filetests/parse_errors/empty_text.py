# test: parse
# expect-error:
# error: no function found
#   --> empty_text.py:1:1
#   |
# 1 | # test: parse
#   | ^
#   |
#   = a script has a class with `@I.ir_module`, or functions with `@T.prim_func` or `@R.function`
