# test: sched
# run: reorder([loop("C", 1), loop("C", 0)])
@T.prim_func
def before(A: T.Buffer((16,), "float32"), Out: T.Buffer((16,), "float32")):
    C = T.alloc_buffer((1,), "float32")
    for k0, k1 in T.grid(4, 4):
        for o in range(1):
            with T.block("C"):
                vo = T.axis.spatial(1, o)
                vk = T.axis.reduce(16, k0 * 4 + k1)
                with T.init():
                    C[vo] = T.float32(0)
                C[vo] = C[vo] + A[vk]
        with T.block("Q"):
            vk = T.axis.spatial(16, k0 * 4 + k1)
            Out[vk] = C[0]
# expect-error:
# error: reorder: the iterations of loop `k1` are not known to be independent: one may run `Q` on elements that others use in `C`
#    --> before:7:5
#    |
#  7 |     for k0, k1 in T.grid(4, 4):
#    |     ^^^^^^^^^^^^^^^^^^^^^^^^^^^ loop `k1`
#  8 |         for o in range(1):
#  9 |             with T.block("C"):
#    |             ------------------ block "C"
#    .
# 17 |         with T.block("Q"):
#    |         ------------------ block "Q"
