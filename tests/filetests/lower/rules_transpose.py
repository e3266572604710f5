# test: lower
# target: avx2
# run: default rules
# Channels first from channels last, with a bias: rows of tiles are written out, and vectors are along the columns, with a rest.

@T.prim_func
def channels_first(X: T.Buffer((2, 3, 11, 8), "float32"), b: T.Buffer((8,), "float32"), Y: T.Buffer((2, 8, 3, 11), "float32")):
    for n, c, y, x in T.grid(2, 8, 3, 11):
        with T.block("Y"):
            vn, vc, vy, vx = T.axis.remap("SSSS", [n, c, y, x])
            Y[vn, vc, vy, vx] = X[vn, vy, vx, vc] + b[vc]
# expect-listing:
# func channels_first()
#   param 0 X: float32[2, 3, 11, 8]
#   param 1 b: float32[8]
#   param 2 Y: float32[2, 8, 3, 11] written
#
# kernel channels_first  # Y
#   array X: float32, 528 elements, global read param 0
#   array b: float32, 8 elements, global read param 1
#   array Y: float32, 528 elements, global write param 2
#   cost 528 flop, 4256 bytes; accesses proved
#   parallel for n_c_0_fused from 0, 2 times:
#     for y_x_fused_0 from 0, 4 times:
#       Y[(n_c_0_fused * 264) + (y_x_fused_0 * 8)] = pack(X[(n_c_0_fused * 264) + (y_x_fused_0 * 64)], X[((n_c_0_fused * 264) + (y_x_fused_0 * 64)) + 8], X[((n_c_0_fused * 264) + (y_x_fused_0 * 64)) + 16], X[((n_c_0_fused * 264) + (y_x_fused_0 * 64)) + 24], X[((n_c_0_fused * 264) + (y_x_fused_0 * 64)) + 32], X[((n_c_0_fused * 264) + (y_x_fused_0 * 64)) + 40], X[((n_c_0_fused * 264) + (y_x_fused_0 * 64)) + 48], X[((n_c_0_fused * 264) + (y_x_fused_0 * 64)) + 56]) + splat8(b[0])
#       Y[((n_c_0_fused * 264) + (y_x_fused_0 * 8)) + 33] = pack(X[((n_c_0_fused * 264) + (y_x_fused_0 * 64)) + 1], X[((n_c_0_fused * 264) + (y_x_fused_0 * 64)) + 9], X[((n_c_0_fused * 264) + (y_x_fused_0 * 64)) + 17], X[((n_c_0_fused * 264) + (y_x_fused_0 * 64)) + 25], X[((n_c_0_fused * 264) + (y_x_fused_0 * 64)) + 33], X[((n_c_0_fused * 264) + (y_x_fused_0 * 64)) + 41], X[((n_c_0_fused * 264) + (y_x_fused_0 * 64)) + 49], X[((n_c_0_fused * 264) + (y_x_fused_0 * 64)) + 57]) + splat8(b[1])
#       Y[((n_c_0_fused * 264) + (y_x_fused_0 * 8)) + 66] = pack(X[((n_c_0_fused * 264) + (y_x_fused_0 * 64)) + 2], X[((n_c_0_fused * 264) + (y_x_fused_0 * 64)) + 10], X[((n_c_0_fused * 264) + (y_x_fused_0 * 64)) + 18], X[((n_c_0_fused * 264) + (y_x_fused_0 * 64)) + 26], X[((n_c_0_fused * 264) + (y_x_fused_0 * 64)) + 34], X[((n_c_0_fused * 264) + (y_x_fused_0 * 64)) + 42], X[((n_c_0_fused * 264) + (y_x_fused_0 * 64)) + 50], X[((n_c_0_fused * 264) + (y_x_fused_0 * 64)) + 58]) + splat8(b[2])
#       Y[((n_c_0_fused * 264) + (y_x_fused_0 * 8)) + 99] = pack(X[((n_c_0_fused * 264) + (y_x_fused_0 * 64)) + 3], X[((n_c_0_fused * 264) + (y_x_fused_0 * 64)) + 11], X[((n_c_0_fused * 264) + (y_x_fused_0 * 64)) + 19], X[((n_c_0_fused * 264) + (y_x_fused_0 * 64)) + 27], X[((n_c_0_fused * 264) + (y_x_fused_0 * 64)) + 35], X[((n_c_0_fused * 264) + (y_x_fused_0 * 64)) + 43], X[((n_c_0_fused * 264) + (y_x_fused_0 * 64)) + 51], X[((n_c_0_fused * 264) + (y_x_fused_0 * 64)) + 59]) + splat8(b[3])
#       Y[((n_c_0_fused * 264) + (y_x_fused_0 * 8)) + 132] = pack(X[((n_c_0_fused * 264) + (y_x_fused_0 * 64)) + 4], X[((n_c_0_fused * 264) + (y_x_fused_0 * 64)) + 12], X[((n_c_0_fused * 264) + (y_x_fused_0 * 64)) + 20], X[((n_c_0_fused * 264) + (y_x_fused_0 * 64)) + 28], X[((n_c_0_fused * 264) + (y_x_fused_0 * 64)) + 36], X[((n_c_0_fused * 264) + (y_x_fused_0 * 64)) + 44], X[((n_c_0_fused * 264) + (y_x_fused_0 * 64)) + 52], X[((n_c_0_fused * 264) + (y_x_fused_0 * 64)) + 60]) + splat8(b[4])
#       Y[((n_c_0_fused * 264) + (y_x_fused_0 * 8)) + 165] = pack(X[((n_c_0_fused * 264) + (y_x_fused_0 * 64)) + 5], X[((n_c_0_fused * 264) + (y_x_fused_0 * 64)) + 13], X[((n_c_0_fused * 264) + (y_x_fused_0 * 64)) + 21], X[((n_c_0_fused * 264) + (y_x_fused_0 * 64)) + 29], X[((n_c_0_fused * 264) + (y_x_fused_0 * 64)) + 37], X[((n_c_0_fused * 264) + (y_x_fused_0 * 64)) + 45], X[((n_c_0_fused * 264) + (y_x_fused_0 * 64)) + 53], X[((n_c_0_fused * 264) + (y_x_fused_0 * 64)) + 61]) + splat8(b[5])
#       Y[((n_c_0_fused * 264) + (y_x_fused_0 * 8)) + 198] = pack(X[((n_c_0_fused * 264) + (y_x_fused_0 * 64)) + 6], X[((n_c_0_fused * 264) + (y_x_fused_0 * 64)) + 14], X[((n_c_0_fused * 264) + (y_x_fused_0 * 64)) + 22], X[((n_c_0_fused * 264) + (y_x_fused_0 * 64)) + 30], X[((n_c_0_fused * 264) + (y_x_fused_0 * 64)) + 38], X[((n_c_0_fused * 264) + (y_x_fused_0 * 64)) + 46], X[((n_c_0_fused * 264) + (y_x_fused_0 * 64)) + 54], X[((n_c_0_fused * 264) + (y_x_fused_0 * 64)) + 62]) + splat8(b[6])
#       Y[((n_c_0_fused * 264) + (y_x_fused_0 * 8)) + 231] = pack(X[((n_c_0_fused * 264) + (y_x_fused_0 * 64)) + 7], X[((n_c_0_fused * 264) + (y_x_fused_0 * 64)) + 15], X[((n_c_0_fused * 264) + (y_x_fused_0 * 64)) + 23], X[((n_c_0_fused * 264) + (y_x_fused_0 * 64)) + 31], X[((n_c_0_fused * 264) + (y_x_fused_0 * 64)) + 39], X[((n_c_0_fused * 264) + (y_x_fused_0 * 64)) + 47], X[((n_c_0_fused * 264) + (y_x_fused_0 * 64)) + 55], X[((n_c_0_fused * 264) + (y_x_fused_0 * 64)) + 63]) + splat8(b[7])
#     Y[(n_c_0_fused * 264) + 32] = X[(n_c_0_fused * 264) + 256] + b[0]
#     Y[(n_c_0_fused * 264) + 65] = X[(n_c_0_fused * 264) + 257] + b[1]
#     Y[(n_c_0_fused * 264) + 98] = X[(n_c_0_fused * 264) + 258] + b[2]
#     Y[(n_c_0_fused * 264) + 131] = X[(n_c_0_fused * 264) + 259] + b[3]
#     Y[(n_c_0_fused * 264) + 164] = X[(n_c_0_fused * 264) + 260] + b[4]
#     Y[(n_c_0_fused * 264) + 197] = X[(n_c_0_fused * 264) + 261] + b[5]
#     Y[(n_c_0_fused * 264) + 230] = X[(n_c_0_fused * 264) + 262] + b[6]
#     Y[(n_c_0_fused * 264) + 263] = X[(n_c_0_fused * 264) + 263] + b[7]
