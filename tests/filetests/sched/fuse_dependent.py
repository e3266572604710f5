# test: sched
# run: fuse([loop("B", 0), loop("B", 1)])
@T.prim_func
def before(A: T.Buffer((16, 16), "float32"), B: T.Buffer((16, 16), "float32")):
    for i in range(16):
        for j in range(i + 1):
            with T.block("B"):
                vi, vj = T.axis.remap("SS", [i, j])
                B[vi, vj] = A[vi, vj] + T.float32(1)

# expect-error:
# error: fuse: the range of loop `j` depends on loop `i`
#   --> before:7:9
#   |
# 7 |         for j in range(i + 1):
#   |         ^^^^^^^^^^^^^^^^^^^^^^ loop `j`
