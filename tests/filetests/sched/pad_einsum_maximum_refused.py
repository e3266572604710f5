# test: sched
# run: pad_einsum("C", [4, 4])
@T.prim_func
def before(A: T.Buffer((6, 10), "float32"), C: T.Buffer((6,), "float32")):
    for i, k in T.grid(6, 10):
        with T.block("C"):
            vi, vk = T.axis.remap("SR", [i, k])
            with T.init():
                C[vi] = T.min_value("float32")
            C[vi] = T.max(C[vi], A[vi, vk])
# expect-error:
# error: pad_einsum: block `C` is not known to add nothing to its reduction where `vk` is past its domain
#   --> before:7:9
#   |
# 7 |         with T.block("C"):
#   |         ^^^^^^^^^^^^^^^^^^ block "C"
