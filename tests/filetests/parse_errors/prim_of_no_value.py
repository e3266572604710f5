# test: parse
@R.function
def main(x: R.Prim(value=())):
    return x
# expect-error:
# error: expected an arithmetic expression, found `()`
#   --> prim_of_no_value.py:3:26
#   |
# 3 | def main(x: R.Prim(value=())):
#   |                          ^^
