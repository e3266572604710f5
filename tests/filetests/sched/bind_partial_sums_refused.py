# test: sched
# run: bind(loop("C", 0), "threadIdx.x")
@T.prim_func
def before(A: T.Buffer((16,), "float32"), Out: T.Buffer((16,), "float32")):
    C = T.alloc_buffer((1,), "float32", scope="local")
    for k in range(16):
        for o in range(1):
            with T.block("C"):
                vo, vk = T.axis.remap("SR", [o, k])
                with T.init():
                    C[vo] = T.float32(0)
                C[vo] = C[vo] + A[vk]
        with T.block("Q"):
            vk = T.axis.spatial(16, k)
            Out[vk] = C[0]
# expect-error:
# error: bind: the iterations of loop `k` are not known to be independent: one may run `Q` on elements that others use in `C`
#    --> before:7:5
#    |
#  7 |     for k in range(16):
#    |     ^^^^^^^^^^^^^^^^^^^ loop `k`
#  8 |         for o in range(1):
#  9 |             with T.block("C"):
#    |             ------------------ block "C"
#    .
# 16 |         with T.block("Q"):
#    |         ------------------ block "Q"
