# test: sched
# run: i0, i1 = split(loop("C", 0), [None, 8])
# run: j0, j1 = split(loop("C", 2), [None, 4])
# run: k0, k1 = split(loop("C", 4), [None, 16])
# run: reorder([i0, j0, k0, k1, i1, j1])
# run: decompose_reduction(block("C"), i1)
@T.prim_func
def before(A: T.Buffer((32, 32), "float32"), B: T.Buffer((32, 32), "float32"), C: T.Buffer((32, 32), "float32")):
    for i, j, k in T.grid(32, 32, 32):
        with T.block("C"):
            vi, vj, vk = T.axis.remap("SSR", [i, j, k])
            with T.init():
                C[vi, vj] = T.float32(0)
            C[vi, vj] = C[vi, vj] + A[vi, vk] * B[vk, vj]
# expect-error:
# error: decompose_reduction: a loop above `i_1` belongs to a reduce iter variable of block `C`
#   --> before:6:5
#   |
# 6 |     for i_0, j_0, k_0, k_1, i_1, j_1 in T.grid(4, 8, 2, 16, 8, 4):
#   |     ^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^ loop `i_1`
# 7 |         with T.block("C"):
#   |         ------------------ block "C"
