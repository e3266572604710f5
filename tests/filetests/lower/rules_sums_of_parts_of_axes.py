# test: lower
# target: avx512
# run: default rules
# The columns of the sum are not whole rows, and one operand has no rows: loops stay apart.

@T.prim_func
def sums(X: T.Buffer((4, 6, 40), "float32"), W: T.Buffer((32,), "float32"), Y: T.Buffer((4,), "float32")):
    for n, h, w in T.grid(4, 6, 32):
        with T.block("Y"):
            vn, vh, vw = T.axis.remap("SRR", [n, h, w])
            with T.init():
                Y[vn] = T.float32(0)
            Y[vn] = Y[vn] + X[vn, vh, vw] * W[vw]
# expect-listing:
# func sums()
#   param 0 X: float32[4, 6, 40]
#   param 1 W: float32[32]
#   param 2 Y: float32[4] written
#
# kernel sums  # Y_init, Y_update
#   array X: float32, 960 elements, global read param 0
#   array W: float32, 32 elements, global read param 1
#   array Y: float32, 4 elements, global read write param 2
#   array Y_cell: float32, 1 elements, local
#   cost 1536 flop, 4000 bytes; accesses proved
#   parallel for n from 0, 4 times:
#     Y[n] = 0.0
#     Y_cell[0] = Y[n]
#     for h from 0, 6 times:
#       simd reduction for w from 0, 32 times:
#         Y_cell[0] = Y_cell[0] + (X[((n * 240) + (h * 40)) + w] * W[w])
#     Y[n] = Y_cell[0]
