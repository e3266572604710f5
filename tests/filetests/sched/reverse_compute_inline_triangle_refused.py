# test: sched
# run: reverse_compute_inline(block("C"))
@T.prim_func
def before(A: T.Buffer((8, 8), "float32"), C: T.Buffer((8, 8), "float32")):
    B = T.alloc_buffer((8, 8), "float32")
    for i, j in T.grid(8, 8):
        with T.block("B"):
            vi, vj = T.axis.remap("SS", [i, j])
            B[vi, vj] = A[vi, vj] * T.float32(2)
    for i in range(8):
        for j in range(i + 1):
            with T.block("C"):
                vi = T.axis.spatial(8, i)
                vj = T.axis.spatial(i + 1, j)
                C[vi, vj] = B[vi, vj] + T.float32(1)
# expect-error:
# error: reverse_compute_inline: the domain of an iter variable of block `C` depends on loop `i`
#    --> before:15:13
#    |
# 13 |     for i in range(8):
#    |     ------------------ loop `i`
# 14 |         for j in range(i + 1):
# 15 |             with T.block("C"):
#    |             ^^^^^^^^^^^^^^^^^^ block "C"
