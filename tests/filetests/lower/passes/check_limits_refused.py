# test: lower
# target: gpu
# An element of int8 takes a word of four bytes in shared memory. 4160 elements of S take more than the 16384 bytes of the device.

@T.prim_func
def mirrored(X: T.Buffer((4160,), "int8"), Y: T.Buffer((4160,), "int8")):
    S = T.alloc_buffer((4160,), "int8", scope="shared")
    for t in T.thread_binding(64, "threadIdx.x"):
        for k in range(65):
            with T.block("S"):
                vk, vt = T.axis.remap("SS", [k, t])
                S[vk * 64 + vt] = X[vk * 64 + vt]
        for k in range(65):
            with T.block("Y"):
                vk, vt = T.axis.remap("SS", [k, t])
                Y[vk * 64 + vt] = S[4159 - (vk * 64 + vt)]
# expect-error:
# error: `mirrored`: needs 16640 bytes of shared memory, the device has 16384
#   --> mirrored:7:5
#   |
# 7 |     for t in T.thread_binding(64, thread="threadIdx.x"):
#   |     ^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^ loop `t`
