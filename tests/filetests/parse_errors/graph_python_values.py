# test: parse
@I.ir_module
class Module:
    @R.function
    def main(x: R.Tensor((4,), "float32"), y: R.Tensor((4,), "bool")):
        a = y and not x
        b = {x: y}
        c = [v for v in x]
        d = x if y else x
        e = (z := x)
        return R.add(x, y or x)
# expect-error:
# error: expected a graph value, found `y and not x`
#   --> graph_python_values.py:6:13
#   |
# 6 |         a = y and not x
#   |             ^^^^^^^^^^^
#
# error: expected a graph value, found `{x: y}`
#   --> graph_python_values.py:7:13
#   |
# 7 |         b = {x: y}
#   |             ^^^^^^
#
# error: expected a graph value, found `[v for v in x]`
#   --> graph_python_values.py:8:13
#   |
# 8 |         c = [v for v in x]
#   |             ^^^^^^^^^^^^^^
#
# error: expected a graph value, found `x if y else x`
#   --> graph_python_values.py:9:13
#   |
# 9 |         d = x if y else x
#   |             ^^^^^^^^^^^^^
#
# error: expected a graph value, found `z := x`
#    --> graph_python_values.py:10:14
#    |
# 10 |         e = (z := x)
#    |              ^^^^^^
#
# error: expected a graph value, found `y or x`
#    --> graph_python_values.py:11:25
#    |
# 11 |         return R.add(x, y or x)
#    |                         ^^^^^^
