# test: parse
@R.function
def main(x: R.Tensor((2, 2), "float32")):
    return R.nn.lstm(x, weight=x, bias=x)
# expect-error:
# error: `R.nn.lstm` needs the argument `recurrence`
#   --> operand_left_out.py:4:12
#   |
# 4 |     return R.nn.lstm(x, weight=x, bias=x)
#   |            ^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^
