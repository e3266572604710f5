# test: lower
# target: cpu
# Rows past the end are clamped to the last tile's, not for each row of the window: the loop over that has no clamp.

@T.prim_func
def windows(X: T.Buffer((31,), "float32"), Y: T.Buffer((29,), "float32")):
    C = T.alloc_buffer((29,), scope="local")
    for b in T.parallel(8):
        for i in T.unroll(4):
            with T.block("init"):
                v = T.axis.spatial(29, b * 4 + i)
                T.where(b * 4 + i < 29)
                C[v] = T.float32(0)
        for r in range(3):
            for i in T.unroll(4):
                with T.block("sum"):
                    v = T.axis.spatial(29, b * 4 + i)
                    vr = T.axis.reduce(3, r)
                    T.where(b * 4 + i < 29)
                    C[v] = C[v] + X[v + vr]
        for i in range(4):
            with T.block("Y"):
                v = T.axis.spatial(29, b * 4 + i)
                T.where(b * 4 + i < 29)
                Y[v] = C[v]
# expect-listing:
# func windows()
#   param 0 X: float32[31]
#   param 1 Y: float32[29] written
#
# kernel windows  # init, sum, Y
#   array X: float32, 31 elements, global read param 0
#   array Y: float32, 29 elements, global write param 1
#   array C: float32, 4 elements, local
#   array C_cell.3: float32, 1 elements, local
#   array C_cell.4: float32, 1 elements, local
#   array C_cell.5: float32, 1 elements, local
#   array C_cell.6: float32, 1 elements, local
#   cost 87 flop, 240 bytes; accesses proved
#   parallel for b from 0, 8 times:
#     C[0] = 0.0
#     C[1] = 0.0
#     C[2] = 0.0
#     C[3] = 0.0
#     C_cell.3[0] = C[0]
#     C_cell.4[0] = C[1]
#     C_cell.5[0] = C[2]
#     C_cell.6[0] = C[3]
#     for r from 0, 3 times:
#       C_cell.3[0] = C_cell.3[0] + X[min((b * 4), 28) + r]
#       C_cell.4[0] = C_cell.4[0] + X[min(((b * 4) + 1), 28) + r]
#       C_cell.5[0] = C_cell.5[0] + X[min(((b * 4) + 2), 28) + r]
#       C_cell.6[0] = C_cell.6[0] + X[min(((b * 4) + 3), 28) + r]
#     C[0] = C_cell.3[0]
#     C[1] = C_cell.4[0]
#     C[2] = C_cell.5[0]
#     C[3] = C_cell.6[0]
#     for i from 0, min((b * -4), -25) + 29 times:
#       Y[(b * 4) + i] = C[i]
