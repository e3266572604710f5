# test: parse
@R.function
def main(x: R.Tensor((2, 2), "float32")):
    return R.concat((x, x), axis=None)
# expect-error:
# error: R.concat: attribute axis must be an integer, got None
#   --> attribute_is_none.py:4:34
#   |
# 4 |     return R.concat((x, x), axis=None)
#   |                                  ^^^^
