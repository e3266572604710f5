# test: lower
# target: avx512
# run: default rules
# The only channel of the result is a tile, with vectors along its pixels, although it is no index of the sums.

@T.prim_func
def pointwise(X: T.Buffer((2, 3, 8, 8), "float32"), W: T.Buffer((1, 3), "float32"), B: T.Buffer((1,), "float32"), Y: T.Buffer((2, 1, 8, 8), "float32")):
    C = T.alloc_buffer((2, 1, 8, 8), "float32")
    for n, o, y, x, c in T.grid(2, 1, 8, 8, 3):
        with T.block("C"):
            vn, vo, vy, vx, vc = T.axis.remap("SSSSR", [n, o, y, x, c])
            with T.init():
                C[vn, vo, vy, vx] = T.float32(0)
            C[vn, vo, vy, vx] = C[vn, vo, vy, vx] + X[vn, vc, vy, vx] * W[vo, vc]
    for n, o, y, x in T.grid(2, 1, 8, 8):
        with T.block("Y"):
            vn, vo, vy, vx = T.axis.remap("SSSS", [n, o, y, x])
            Y[vn, vo, vy, vx] = T.max(C[vn, vo, vy, vx] + B[vo], T.float32(0))
# expect-listing:
# func pointwise()
#   param 0 X: float32[2, 3, 8, 8]
#   param 1 W: float32[1, 3]
#   param 2 B: float32[1]
#   param 3 Y: float32[2, 1, 8, 8] written
#
# kernel pointwise  # C_init, C_update, C_local
#   array X: float32, 384 elements, global read param 0
#   array W: float32, 3 elements, global read param 1
#   array B: float32, 1 elements, global read param 2
#   array Y: float32, 128 elements, global write param 3
#   array C_local: float32, 32 elements, local
#   cost 1024 flop, 2064 bytes; accesses proved
#   parallel for ax2_0 from 0, 2 times:
#     for ax0 from 0, 2 times:
#       C_local[0] = splat16(0.0)
#       C_local[16] = splat16(0.0)
#       for ax3 from 0, 3 times:
#         C_local[0] = C_local[0 : 16] + (X[((ax0 * 192) + (ax3 * 64)) + (ax2_0 * 32) : 16] * splat16(W[ax3]))
#         C_local[16] = C_local[16 : 16] + (X[(((ax0 * 192) + (ax3 * 64)) + (ax2_0 * 32)) + 16 : 16] * splat16(W[ax3]))
#       Y[(ax0 * 64) + (ax2_0 * 32)] = max((C_local[0 : 16] + splat16(B[0])), splat16(0.0))
#       Y[((ax0 * 64) + (ax2_0 * 32)) + 16] = max((C_local[16 : 16] + splat16(B[0])), splat16(0.0))
