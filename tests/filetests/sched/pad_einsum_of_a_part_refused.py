# test: sched
# run: outer, inner = split(loop("D", 1), [None, 1])
# run: loop_partition(outer, [4, None])
# run: pad_einsum(block("D_j_00"), [4, 4])
@T.prim_func
def before(A: T.Buffer((8, 6), "float32"), D: T.Buffer((8, 6), "float32")):
    for i, j in T.grid(8, 6):
        with T.block("C"):
            vi, vj = T.axis.remap("SS", [i, j])
            D[vi, vj] = D[vi, vj] + A[vi, vj]
    for i, j in T.grid(8, 6):
        with T.block("D"):
            vi, vj = T.axis.remap("SS", [i, j])
            A[vi, vj] = D[vi, vj] * T.float32(2)
# expect-error:
# error: pad_einsum: the iter variables of block `D_j_00` are not the variables of the loops around it, or these hold more, or it has a predicate
#    --> before:20:21
#    |
# 20 |                     with T.block("D_j_00"):
#    |                     ^^^^^^^^^^^^^^^^^^^^^^^ block "D_j_00"
