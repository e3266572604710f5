# test: sched
# run: reorder_block_iter_var("C", [0, 0, 1])
@T.prim_func
def before(A: T.Buffer((7, 5), "float32"), B: T.Buffer((5, 9), "float32"), C: T.Buffer((7, 9), "float32")):
    for i, j, k in T.grid(7, 9, 5):
        with T.block("C"):
            vi, vj, vk = T.axis.remap("SSR", [i, j, k])
            with T.init():
                C[vi, vj] = T.float32(0)
            C[vi, vj] = C[vi, vj] + A[vi, vk] * B[vk, vj]
# expect-error:
# error: reorder_block_iter_var: [0, 0, 1] is no order of the 3 iter variables of block `C`
#   --> before:7:9
#   |
# 7 |         with T.block("C"):
#   |         ^^^^^^^^^^^^^^^^^^ block "C"
