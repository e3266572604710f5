# test: sched
# run: reindex(block("B"), "read", 1)
@T.prim_func
def before(A: T.Buffer((10, 12), "float32"), C: T.Buffer((10, 12), "float32")):
    B = T.alloc_buffer((10, 12), "float32")
    for i, j in T.grid(10, 12):
        with T.block("B"):
            vi, vj = T.axis.remap("SS", [i, j])
            B[vi, vj] = A[vi, vj] * T.float32(2)
    for i, j in T.grid(10, 12):
        with T.block("C"):
            vi, vj = T.axis.remap("SS", [i, j])
            C[vi, vj] = B[vi, vj] + T.float32(1)
# expect-error:
# error: reindex: buffer index 1 is out of range: block `B` has 1 such regions
#   --> before:8:9
#   |
# 8 |         with T.block("B"):
#   |         ^^^^^^^^^^^^^^^^^^ block "B"
