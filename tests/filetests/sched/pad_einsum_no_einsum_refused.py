# test: sched
# run: pad_einsum("C", [8])
@T.prim_func
def before(A: T.Buffer((16,), "float32"), C: T.Buffer((16,), "float32")):
    B = T.alloc_buffer((16,), "float32")
    for i in range(16):
        with T.block("B"):
            vi = T.axis.spatial(16, i)
            B[vi] = A[vi] + T.float32(1)
    for i in range(16):
        with T.block("C"):
            vi = T.axis.spatial(16, i)
            C[vi] = B[15 - vi]
# expect-error:
# error: pad_einsum: block `C` is no einsum: it does not use `B` once, with constants and variables as indices
#    --> before:14:9
#    |
# 14 |         with T.block("C"):
#    |         ^^^^^^^^^^^^^^^^^^ block "C"
