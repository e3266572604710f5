# test: lower
# target: lavapipe
# run: until check_limits
# An element of float16 takes two bytes of shared memory. S takes all 32768 bytes of the device.

@T.prim_func
def mirrored(X: T.Buffer((16384,), "float16"), Y: T.Buffer((16384,), "float16")):
    S = T.alloc_buffer((16384,), "float16", scope="shared")
    for t in T.thread_binding(256, "threadIdx.x"):
        for k in range(64):
            with T.block("S"):
                vk, vt = T.axis.remap("SS", [k, t])
                S[vk * 256 + vt] = X[vk * 256 + vt]
        for k in range(64):
            with T.block("Y"):
                vk, vt = T.axis.remap("SS", [k, t])
                Y[vk * 256 + vt] = S[16383 - (vk * 256 + vt)]
# expect-listing:
# after check_limits:
# kernel mirrored  # S, Y
#   launch grid [1, 1, 1] block [256, 1, 1]
#   array X: float16, 16384 elements, global read param 0
#   array Y: float16, 16384 elements, global write param 1
#   array S: float16, 16384 elements, shared
#   cost 0 flop, 65536 bytes; accesses proved
#   for k.0 from 0, 64 times:
#     S[(k.0 * 256) + threadIdx.x] = X[(k.0 * 256) + threadIdx.x]
#   for k.1 from 0, 64 times:
#     Y[(k.1 * 256) + threadIdx.x] = S[((k.1 * -256) - threadIdx.x) + 16383]
