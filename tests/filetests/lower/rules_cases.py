# test: lower
# target: avx512
# run: default rules
# What an index picks is written out, so that of each value one way is computed: sums and differences of neighbours, by turns.

@T.prim_func
def haar(X: T.Buffer((6, 4, 32), "float32"), Y: T.Buffer((6, 4, 32), "float32")):
    for i, j, c in T.grid(6, 4, 32):
        with T.block("Y"):
            vi, vj, vc = T.axis.remap("SSS", [i, j, c])
            Y[vi, vj, vc] = T.if_then_else(vj % 2 == 0, X[vi, vj, vc] + X[vi, T.min(vj + 1, 3), vc], X[vi, vj - 1, vc] - X[vi, vj, vc])
# expect-listing:
# func haar()
#   param 0 X: float32[6, 4, 32]
#   param 1 Y: float32[6, 4, 32] written
#
# kernel haar  # Y
#   array X: float32, 768 elements, global read param 0
#   array Y: float32, 768 elements, global write param 1
#   cost 1536 flop, 6144 bytes; accesses proved
#   parallel for i_c_0_fused from 0, 12 times:
#     for j_0 from 0, 2 times:
#       Y[(((i_c_0_fused >> 1) * 128) + (j_0 * 64)) + ((i_c_0_fused & 1) * 16)] = X[(((i_c_0_fused >> 1) * 128) + (j_0 * 64)) + ((i_c_0_fused & 1) * 16) : 16] + X[((((i_c_0_fused >> 1) * 128) + (j_0 * 64)) + ((i_c_0_fused & 1) * 16)) + 32 : 16]
#       Y[((((i_c_0_fused >> 1) * 128) + (j_0 * 64)) + ((i_c_0_fused & 1) * 16)) + 32] = X[(((i_c_0_fused >> 1) * 128) + (j_0 * 64)) + ((i_c_0_fused & 1) * 16) : 16] - X[((((i_c_0_fused >> 1) * 128) + (j_0 * 64)) + ((i_c_0_fused & 1) * 16)) + 32 : 16]
