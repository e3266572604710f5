# test: sched
# run: i0, i1 = split(loop("B", 0), [5, 2])
# run: reorder([i1, i0])
# run: blockize(i0)
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
# error: blockize: the bindings or the predicate of block `B` cannot be divided between the loops outside of and inside the new block
#   --> before:8:9
#   |
# 8 |         with T.block("B"):
#   |         ^^^^^^^^^^^^^^^^^^ block "B"
