# test: lower
# target: avx2
# run: default rules
# The squares of a row are summed where the row is read again: no product of matrices.

@T.prim_func
def rms_norm(X: T.Buffer((6, 64), "float32"), Y: T.Buffer((6, 64), "float32")):
    S = T.alloc_buffer((6, 1), "float32")
    for i, u, k in T.grid(6, 1, 64):
        with T.block("squares"):
            vi, vu, vk = T.axis.remap("SSR", [i, u, k])
            with T.init():
                S[vi, vu] = T.float32(0)
            S[vi, vu] = S[vi, vu] + X[vi, vk] * X[vi, vk]
    for i, j in T.grid(6, 64):
        with T.block("norm"):
            vi, vj = T.axis.remap("SS", [i, j])
            Y[vi, vj] = X[vi, vj] * T.rsqrt(S[vi, 0] / T.float32(64))
# expect-listing:
# func rms_norm()
#   param 0 X: float32[6, 64]
#   param 1 Y: float32[6, 64] written
#
# kernel rms_norm  # squares_init, squares_update, norm
#   array X: float32, 384 elements, global read param 0
#   array Y: float32, 384 elements, global write param 1
#   array S: float32, 1 elements, local
#   cost 1920 flop, 3072 bytes; accesses proved
#   parallel for i from 0, 6 times:
#     S[0] = 0.0
#     simd reduction for ax0 from 0, 64 times:
#       S[0] = S[0] + (X[(i * 64) + ax0] * X[(i * 64) + ax0])
#     for j_0 from 0, 4 times:
#       Y[(i * 64) + (j_0 * 16)] = X[(i * 64) + (j_0 * 16) : 16] * splat16(rsqrt(S[0] / 64.0))
