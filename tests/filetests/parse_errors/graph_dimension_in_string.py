# test: parse
@R.function
def main(x: R.Tensor(("n m",), "float32")):
    return x
# expect-error:
# error: expected a dimension: a name, a number or an expression, found `"n m"`
#   --> graph_dimension_in_string.py:3:23
#   |
# 3 | def main(x: R.Tensor(("n m",), "float32")):
#   |                       ^^^^^
