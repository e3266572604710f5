# test: sched
# run: rfactor(loop("S", 1), 0)
@T.prim_func
def before(A: T.Buffer((8, 16), "float32"), P: T.Buffer((8,), "float32"), S: T.Buffer((8,), "float32")):
    for i in range(8):
        with T.block("P"):
            vi = T.axis.spatial(8, i)
            P[vi] = A[vi, 0]
        for k in range(16):
            with T.block("S"):
                vi, vk = T.axis.remap("SR", [i, k])
                with T.init():
                    S[vi] = T.float32(0)
                S[vi] = S[vi] + A[vi, vk]
# expect-error:
# error: rfactor: block `S` is not the first block below loop `i`, the outermost loop around it
#    --> before:6:5
#    |
#  6 |     for i in range(8):
#    |     ^^^^^^^^^^^^^^^^^^ loop `i`
#    .
# 13 |             with T.block("S"):
#    |             ------------------ block "S"
