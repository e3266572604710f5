# test: sched
# run: reorder([loop("B", 1), loop("B", 0)])
@T.prim_func
def before(A: T.Buffer((16, 16), "float32"), B: T.Buffer((16, 16), "float32")):
    for i in range(16):
        for j in range(i + 1):
            with T.block("B"):
                vi, vj = T.axis.remap("SS", [i, j])
                B[vi, vj] = A[vi, vj] + T.float32(1)

# expect-error:
# error: reorder: the bindings of block `B` are not affine in the loops around it
#   --> before:8:13
#   |
# 8 |             with T.block("B"):
#   |             ^^^^^^^^^^^^^^^^^^ block "B"
