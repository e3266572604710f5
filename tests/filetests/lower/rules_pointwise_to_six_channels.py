# test: lower
# target: avx2
# run: default rules
# Six channels are two tiles of three, whose sums fill six of sixteen registers.

@T.prim_func
def pointwise(X: T.Buffer((2, 3, 8, 8), "float32"), W: T.Buffer((6, 3), "float32"), B: T.Buffer((6,), "float32"), Y: T.Buffer((2, 6, 8, 8), "float32")):
    C = T.alloc_buffer((2, 6, 8, 8), "float32")
    for n, o, y, x, c in T.grid(2, 6, 8, 8, 3):
        with T.block("C"):
            vn, vo, vy, vx, vc = T.axis.remap("SSSSR", [n, o, y, x, c])
            with T.init():
                C[vn, vo, vy, vx] = T.float32(0)
            C[vn, vo, vy, vx] = C[vn, vo, vy, vx] + X[vn, vc, vy, vx] * W[vo, vc]
    for n, o, y, x in T.grid(2, 6, 8, 8):
        with T.block("Y"):
            vn, vo, vy, vx = T.axis.remap("SSSS", [n, o, y, x])
            Y[vn, vo, vy, vx] = T.max(C[vn, vo, vy, vx] + B[vo], T.float32(0))
# expect-listing:
# func pointwise()
#   param 0 X: float32[2, 3, 8, 8]
#   param 1 W: float32[6, 3]
#   param 2 B: float32[6]
#   param 3 Y: float32[2, 6, 8, 8] written
#
# kernel pointwise  # C_init, C_update, C_local
#   array X: float32, 384 elements, global read param 0
#   array W: float32, 18 elements, global read param 1
#   array B: float32, 6 elements, global read param 2
#   array Y: float32, 768 elements, global write param 3
#   array C_local: float32, 48 elements, local
#   cost 6144 flop, 4704 bytes; accesses proved
#   parallel for ax2_0_ax1_0_fused from 0, 8 times:
#     for ax0 from 0, 2 times:
#       C_local[0] = splat16(0.0)
#       C_local[16] = splat16(0.0)
#       C_local[32] = splat16(0.0)
#       for ax3 from 0, 3 times:
#         C_local[0] = C_local[0 : 16] + (X[((ax0 * 192) + (ax3 * 64)) + ((ax2_0_ax1_0_fused >> 1) * 16) : 16] * splat16(W[((ax2_0_ax1_0_fused & 1) * 9) + ax3]))
#         C_local[16] = C_local[16 : 16] + (X[((ax0 * 192) + (ax3 * 64)) + ((ax2_0_ax1_0_fused >> 1) * 16) : 16] * splat16(W[(((ax2_0_ax1_0_fused & 1) * 9) + ax3) + 3]))
#         C_local[32] = C_local[32 : 16] + (X[((ax0 * 192) + (ax3 * 64)) + ((ax2_0_ax1_0_fused >> 1) * 16) : 16] * splat16(W[(((ax2_0_ax1_0_fused & 1) * 9) + ax3) + 6]))
#       Y[((ax0 * 384) + ((ax2_0_ax1_0_fused & 1) * 192)) + ((ax2_0_ax1_0_fused >> 1) * 16)] = max((C_local[0 : 16] + splat16(B[(ax2_0_ax1_0_fused & 1) * 3])), splat16(0.0))
#       Y[(((ax0 * 384) + ((ax2_0_ax1_0_fused & 1) * 192)) + ((ax2_0_ax1_0_fused >> 1) * 16)) + 64] = max((C_local[16 : 16] + splat16(B[((ax2_0_ax1_0_fused & 1) * 3) + 1])), splat16(0.0))
#       Y[(((ax0 * 384) + ((ax2_0_ax1_0_fused & 1) * 192)) + ((ax2_0_ax1_0_fused >> 1) * 16)) + 128] = max((C_local[32 : 16] + splat16(B[((ax2_0_ax1_0_fused & 1) * 3) + 2])), splat16(0.0))
