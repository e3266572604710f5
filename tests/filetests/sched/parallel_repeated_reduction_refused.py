# test: sched
# run: parallel(loop("C", 0))
@T.prim_func
def before(A: T.Buffer((16,), "float32"), C: T.Buffer((1,), "float32")):
    for r, o, k in T.grid(4, 1, 16):
        with T.block("C"):
            vo, vk = T.axis.remap("SR", [o, k])
            with T.init():
                C[vo] = T.float32(0)
            C[vo] = C[vo] + A[vk]
# expect-error:
# error: parallel: loop `r` cannot be made parallel: its iterations would each compute the sums of block `C`, all at once in the same place
#   --> before:6:5
#   |
# 6 |     for r, o, k in T.grid(4, 1, 16):
#   |     ^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^ loop `r`
# 7 |         with T.block("C"):
#   |         ------------------ block "C"
