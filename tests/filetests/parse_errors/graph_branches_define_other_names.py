# test: parse
@R.function
def main(x: R.Tensor((2, 3), "float32"), c: R.Tensor((), "bool")):
    if c:
        a = R.add(x, x)
    else:
        b = R.multiply(x, x)
    return a
# expect-error:
# error: branches that end in different names cannot be used here
#   --> graph_branches_define_other_names.py:6:5
#   |
# 6 |     else:
#   |     ^^^^^
#   |
#   = both branches end in an assignment to the same name
#
# error: undefined name `a`
#   --> graph_branches_define_other_names.py:8:12
#   |
# 8 |     return a
#   |            ^ not defined here
