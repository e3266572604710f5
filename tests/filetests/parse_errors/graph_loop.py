# test: parse
@R.function
def main(x: R.Tensor((2, 3), "float32"), y: R.Tensor((3, 4), "float32")):
    for i in range(4):
        lv0 = R.add(x, x)
    return x
# expect-error:
# error: this statement in a graph function cannot be used here
#   --> graph_loop.py:4:5
#   |
# 4 |     for i in range(4):
#   |     ^^^^^^^^^^^^^^^^^^
