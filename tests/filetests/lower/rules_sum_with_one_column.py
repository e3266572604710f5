# test: lower
# target: cpu
# run: default rules
# The innermost loop has one iteration: the one around it is the sum on vectors.

@T.prim_func
def total(X: T.Buffer((64, 1024, 1), "float32"), Y: T.Buffer((64,), "float32")):
    for i, j, k in T.grid(64, 1024, 1):
        with T.block("Y"):
            vi, vj, vk = T.axis.remap("SRR", [i, j, k])
            with T.init():
                Y[vi] = T.float32(0)
            Y[vi] = Y[vi] + X[vi, vj, vk]
# expect-listing:
# func total()
#   param 0 X: float32[64, 1024, 1]
#   param 1 Y: float32[64] written
#
# kernel total  # Y_init, Y_update
#   array X: float32, 65536 elements, global read param 0
#   array Y: float32, 64 elements, global read write param 1
#   array Y_cell: float32, 1 elements, local
#   cost 65536 flop, 262656 bytes; accesses proved
#   parallel for i from 0, 64 times:
#     Y[i] = 0.0
#     Y_cell[0] = Y[i]
#     simd reduction for j_k_fused from 0, 1024 times:
#       Y_cell[0] = Y_cell[0] + X[(i * 1024) + j_k_fused]
#     Y[i] = Y_cell[0]
