# test: lower
# target: avx512
# run: default rules
# No window: channels by pixels, vectors of neighbours in the result; the sums of eight channels of 32 pixels are in registers.

@T.prim_func
def pointwise(X: T.Buffer((2, 3, 8, 8), "float32"), W: T.Buffer((16, 3), "float32"), B: T.Buffer((16,), "float32"), Y: T.Buffer((2, 16, 8, 8), "float32")):
    C = T.alloc_buffer((2, 16, 8, 8), "float32")
    for n, o, y, x, c in T.grid(2, 16, 8, 8, 3):
        with T.block("C"):
            vn, vo, vy, vx, vc = T.axis.remap("SSSSR", [n, o, y, x, c])
            with T.init():
                C[vn, vo, vy, vx] = T.float32(0)
            C[vn, vo, vy, vx] = C[vn, vo, vy, vx] + X[vn, vc, vy, vx] * W[vo, vc]
    for n, o, y, x in T.grid(2, 16, 8, 8):
        with T.block("Y"):
            vn, vo, vy, vx = T.axis.remap("SSSS", [n, o, y, x])
            Y[vn, vo, vy, vx] = T.max(C[vn, vo, vy, vx] + B[vo], T.float32(0))
# expect-listing:
# func pointwise()
#   param 0 X: float32[2, 3, 8, 8]
#   param 1 W: float32[16, 3]
#   param 2 B: float32[16]
#   param 3 Y: float32[2, 16, 8, 8] written
#
# kernel pointwise  # C_init, C_update, C_local
#   array X: float32, 384 elements, global read param 0
#   array W: float32, 48 elements, global read param 1
#   array B: float32, 16 elements, global read param 2
#   array Y: float32, 2048 elements, global write param 3
#   array C_local: float32, 256 elements, local
#   cost 16384 flop, 9984 bytes; accesses proved
#   parallel for ax2_0_ax1_0_fused from 0, 4 times:
#     for ax0 from 0, 2 times:
#       C_local[0] = splat16(0.0)
#       C_local[16] = splat16(0.0)
#       C_local[32] = splat16(0.0)
#       C_local[48] = splat16(0.0)
#       C_local[64] = splat16(0.0)
#       C_local[80] = splat16(0.0)
#       C_local[96] = splat16(0.0)
#       C_local[112] = splat16(0.0)
#       C_local[128] = splat16(0.0)
#       C_local[144] = splat16(0.0)
#       C_local[160] = splat16(0.0)
#       C_local[176] = splat16(0.0)
#       C_local[192] = splat16(0.0)
#       C_local[208] = splat16(0.0)
#       C_local[224] = splat16(0.0)
#       C_local[240] = splat16(0.0)
#       for ax3 from 0, 3 times:
#         C_local[0] = C_local[0 : 16] + (X[((ax0 * 192) + (ax3 * 64)) + ((ax2_0_ax1_0_fused >> 1) * 32) : 16] * splat16(W[((ax2_0_ax1_0_fused & 1) * 24) + ax3]))
#         C_local[16] = C_local[16 : 16] + (X[(((ax0 * 192) + (ax3 * 64)) + ((ax2_0_ax1_0_fused >> 1) * 32)) + 16 : 16] * splat16(W[((ax2_0_ax1_0_fused & 1) * 24) + ax3]))
#         C_local[32] = C_local[32 : 16] + (X[((ax0 * 192) + (ax3 * 64)) + ((ax2_0_ax1_0_fused >> 1) * 32) : 16] * splat16(W[(((ax2_0_ax1_0_fused & 1) * 24) + ax3) + 3]))
#         C_local[48] = C_local[48 : 16] + (X[(((ax0 * 192) + (ax3 * 64)) + ((ax2_0_ax1_0_fused >> 1) * 32)) + 16 : 16] * splat16(W[(((ax2_0_ax1_0_fused & 1) * 24) + ax3) + 3]))
#         C_local[64] = C_local[64 : 16] + (X[((ax0 * 192) + (ax3 * 64)) + ((ax2_0_ax1_0_fused >> 1) * 32) : 16] * splat16(W[(((ax2_0_ax1_0_fused & 1) * 24) + ax3) + 6]))
#         C_local[80] = C_local[80 : 16] + (X[(((ax0 * 192) + (ax3 * 64)) + ((ax2_0_ax1_0_fused >> 1) * 32)) + 16 : 16] * splat16(W[(((ax2_0_ax1_0_fused & 1) * 24) + ax3) + 6]))
#         C_local[96] = C_local[96 : 16] + (X[((ax0 * 192) + (ax3 * 64)) + ((ax2_0_ax1_0_fused >> 1) * 32) : 16] * splat16(W[(((ax2_0_ax1_0_fused & 1) * 24) + ax3) + 9]))
#         C_local[112] = C_local[112 : 16] + (X[(((ax0 * 192) + (ax3 * 64)) + ((ax2_0_ax1_0_fused >> 1) * 32)) + 16 : 16] * splat16(W[(((ax2_0_ax1_0_fused & 1) * 24) + ax3) + 9]))
#         C_local[128] = C_local[128 : 16] + (X[((ax0 * 192) + (ax3 * 64)) + ((ax2_0_ax1_0_fused >> 1) * 32) : 16] * splat16(W[(((ax2_0_ax1_0_fused & 1) * 24) + ax3) + 12]))
#         C_local[144] = C_local[144 : 16] + (X[(((ax0 * 192) + (ax3 * 64)) + ((ax2_0_ax1_0_fused >> 1) * 32)) + 16 : 16] * splat16(W[(((ax2_0_ax1_0_fused & 1) * 24) + ax3) + 12]))
#         C_local[160] = C_local[160 : 16] + (X[((ax0 * 192) + (ax3 * 64)) + ((ax2_0_ax1_0_fused >> 1) * 32) : 16] * splat16(W[(((ax2_0_ax1_0_fused & 1) * 24) + ax3) + 15]))
#         C_local[176] = C_local[176 : 16] + (X[(((ax0 * 192) + (ax3 * 64)) + ((ax2_0_ax1_0_fused >> 1) * 32)) + 16 : 16] * splat16(W[(((ax2_0_ax1_0_fused & 1) * 24) + ax3) + 15]))
#         C_local[192] = C_local[192 : 16] + (X[((ax0 * 192) + (ax3 * 64)) + ((ax2_0_ax1_0_fused >> 1) * 32) : 16] * splat16(W[(((ax2_0_ax1_0_fused & 1) * 24) + ax3) + 18]))
#         C_local[208] = C_local[208 : 16] + (X[(((ax0 * 192) + (ax3 * 64)) + ((ax2_0_ax1_0_fused >> 1) * 32)) + 16 : 16] * splat16(W[(((ax2_0_ax1_0_fused & 1) * 24) + ax3) + 18]))
#         C_local[224] = C_local[224 : 16] + (X[((ax0 * 192) + (ax3 * 64)) + ((ax2_0_ax1_0_fused >> 1) * 32) : 16] * splat16(W[(((ax2_0_ax1_0_fused & 1) * 24) + ax3) + 21]))
#         C_local[240] = C_local[240 : 16] + (X[(((ax0 * 192) + (ax3 * 64)) + ((ax2_0_ax1_0_fused >> 1) * 32)) + 16 : 16] * splat16(W[(((ax2_0_ax1_0_fused & 1) * 24) + ax3) + 21]))
#       Y[((ax0 * 1024) + ((ax2_0_ax1_0_fused & 1) * 512)) + ((ax2_0_ax1_0_fused >> 1) * 32)] = max((C_local[0 : 16] + splat16(B[(ax2_0_ax1_0_fused & 1) * 8])), splat16(0.0))
#       Y[(((ax0 * 1024) + ((ax2_0_ax1_0_fused & 1) * 512)) + ((ax2_0_ax1_0_fused >> 1) * 32)) + 16] = max((C_local[16 : 16] + splat16(B[(ax2_0_ax1_0_fused & 1) * 8])), splat16(0.0))
#       Y[(((ax0 * 1024) + ((ax2_0_ax1_0_fused & 1) * 512)) + ((ax2_0_ax1_0_fused >> 1) * 32)) + 64] = max((C_local[32 : 16] + splat16(B[((ax2_0_ax1_0_fused & 1) * 8) + 1])), splat16(0.0))
#       Y[(((ax0 * 1024) + ((ax2_0_ax1_0_fused & 1) * 512)) + ((ax2_0_ax1_0_fused >> 1) * 32)) + 80] = max((C_local[48 : 16] + splat16(B[((ax2_0_ax1_0_fused & 1) * 8) + 1])), splat16(0.0))
#       Y[(((ax0 * 1024) + ((ax2_0_ax1_0_fused & 1) * 512)) + ((ax2_0_ax1_0_fused >> 1) * 32)) + 128] = max((C_local[64 : 16] + splat16(B[((ax2_0_ax1_0_fused & 1) * 8) + 2])), splat16(0.0))
#       Y[(((ax0 * 1024) + ((ax2_0_ax1_0_fused & 1) * 512)) + ((ax2_0_ax1_0_fused >> 1) * 32)) + 144] = max((C_local[80 : 16] + splat16(B[((ax2_0_ax1_0_fused & 1) * 8) + 2])), splat16(0.0))
#       Y[(((ax0 * 1024) + ((ax2_0_ax1_0_fused & 1) * 512)) + ((ax2_0_ax1_0_fused >> 1) * 32)) + 192] = max((C_local[96 : 16] + splat16(B[((ax2_0_ax1_0_fused & 1) * 8) + 3])), splat16(0.0))
#       Y[(((ax0 * 1024) + ((ax2_0_ax1_0_fused & 1) * 512)) + ((ax2_0_ax1_0_fused >> 1) * 32)) + 208] = max((C_local[112 : 16] + splat16(B[((ax2_0_ax1_0_fused & 1) * 8) + 3])), splat16(0.0))
#       Y[(((ax0 * 1024) + ((ax2_0_ax1_0_fused & 1) * 512)) + ((ax2_0_ax1_0_fused >> 1) * 32)) + 256] = max((C_local[128 : 16] + splat16(B[((ax2_0_ax1_0_fused & 1) * 8) + 4])), splat16(0.0))
#       Y[(((ax0 * 1024) + ((ax2_0_ax1_0_fused & 1) * 512)) + ((ax2_0_ax1_0_fused >> 1) * 32)) + 272] = max((C_local[144 : 16] + splat16(B[((ax2_0_ax1_0_fused & 1) * 8) + 4])), splat16(0.0))
#       Y[(((ax0 * 1024) + ((ax2_0_ax1_0_fused & 1) * 512)) + ((ax2_0_ax1_0_fused >> 1) * 32)) + 320] = max((C_local[160 : 16] + splat16(B[((ax2_0_ax1_0_fused & 1) * 8) + 5])), splat16(0.0))
#       Y[(((ax0 * 1024) + ((ax2_0_ax1_0_fused & 1) * 512)) + ((ax2_0_ax1_0_fused >> 1) * 32)) + 336] = max((C_local[176 : 16] + splat16(B[((ax2_0_ax1_0_fused & 1) * 8) + 5])), splat16(0.0))
#       Y[(((ax0 * 1024) + ((ax2_0_ax1_0_fused & 1) * 512)) + ((ax2_0_ax1_0_fused >> 1) * 32)) + 384] = max((C_local[192 : 16] + splat16(B[((ax2_0_ax1_0_fused & 1) * 8) + 6])), splat16(0.0))
#       Y[(((ax0 * 1024) + ((ax2_0_ax1_0_fused & 1) * 512)) + ((ax2_0_ax1_0_fused >> 1) * 32)) + 400] = max((C_local[208 : 16] + splat16(B[((ax2_0_ax1_0_fused & 1) * 8) + 6])), splat16(0.0))
#       Y[(((ax0 * 1024) + ((ax2_0_ax1_0_fused & 1) * 512)) + ((ax2_0_ax1_0_fused >> 1) * 32)) + 448] = max((C_local[224 : 16] + splat16(B[((ax2_0_ax1_0_fused & 1) * 8) + 7])), splat16(0.0))
#       Y[(((ax0 * 1024) + ((ax2_0_ax1_0_fused & 1) * 512)) + ((ax2_0_ax1_0_fused >> 1) * 32)) + 464] = max((C_local[240 : 16] + splat16(B[((ax2_0_ax1_0_fused & 1) * 8) + 7])), splat16(0.0))
