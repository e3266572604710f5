# test: sched
# run: reindex(block("C"), "write", 0)
@T.prim_func
def before(A: T.Buffer((10, 12), "float32"), C: T.Buffer((10, 6), "float32")):
    B = T.alloc_buffer((10, 12), "float32")
    for i, j in T.grid(10, 12):
        with T.block("B"):
            vi, vj = T.axis.remap("SS", [i, j])
            B[vi, vj] = A[vi, vj] * T.float32(2)
    for i, j in T.grid(10, 12):
        with T.block("C"):
            vi, vj = T.axis.remap("SS", [i, j])
            C[vi, vj // 2] = B[vi, vj] + T.float32(1)
# expect-error:
# error: reindex: block `C` does not write each element of `C` for one value of its iter variables only
#    --> before:14:9
#    |
# 14 |         with T.block("C"):
#    |         ^^^^^^^^^^^^^^^^^^ block "C"
