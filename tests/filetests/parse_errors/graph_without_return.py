# test: parse
@R.function
def main(x: R.Tensor((2, 3), "float32"), y: R.Tensor((3, 4), "float32")):
    lv0 = R.matmul(x, y)
# expect-error:
# error: expected a function that ends in `return`, found `main`
#   --> graph_without_return.py:3:5
#   |
# 3 | def main(x: R.Tensor((2, 3), "float32"), y: R.Tensor((3, 4), "float32")):
#   |     ^^^^
