# test: lower
# target: avx512
# run: default rules
# Vectors of 16 reach over rows of 7 and planes of 49. Their elements are neighbours still: the indices are those of one long row.

@T.prim_func
def relu(X: T.Buffer((8, 64, 7, 7), "float32"), Y: T.Buffer((8, 64, 7, 7), "float32")):
    for a, b, c, d in T.grid(8, 64, 7, 7):
        with T.block("relu"):
            va, vb, vc, vd = T.axis.remap("SSSS", [a, b, c, d])
            Y[va, vb, vc, vd] = T.max(X[va, vb, vc, vd], T.float32(0))

# expect-listing:
# func relu()
#   param 0 X: float32[8, 64, 7, 7]
#   param 1 Y: float32[8, 64, 7, 7] written
#
# kernel relu  # relu
#   array X: float32, 25088 elements, global read param 0
#   array Y: float32, 25088 elements, global write param 1
#   cost 25088 flop, 200704 bytes; accesses proved
#   parallel for a_b_c_d_fused_0 from 0, 1568 times:
#     Y[a_b_c_d_fused_0 * 16] = max(X[a_b_c_d_fused_0 * 16 : 16], splat16(0.0))
