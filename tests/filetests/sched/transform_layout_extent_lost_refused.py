# test: sched
# run: transform_layout(block("B"), "read", 0, "lambda i: (i // 4, i % 4)", 0.0)
@T.prim_func
def before(a: T.handle, B: T.Buffer((4,), "float32")):
    n = T.int32()
    A = T.match_buffer(a, (n,), "float32")
    for i in range(4):
        with T.block("B"):
            vi = T.axis.spatial(4, i)
            B[vi] = A[vi]
# expect-error:
# error: transform_layout: the new shape of parameter `A` no longer gives `n` its value
#   --> before:9:9
#   |
# 9 |         with T.block("B"):
#   |         ^^^^^^^^^^^^^^^^^^ block "B"
