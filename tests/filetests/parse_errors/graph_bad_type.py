# test: parse
@R.function
def main(x: R.Tenser((2, 3), "float32")):
    return x
# expect-error:
# error: expected a type, as `R.Tensor((2, "n"), "float32")`, found `R.Tenser((2, 3), "float32")`
#   --> graph_bad_type.py:3:13
#   |
# 3 | def main(x: R.Tenser((2, 3), "float32")):
#   |             ^^^^^^^^^^^^^^^^^^^^^^^^^^^
