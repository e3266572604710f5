# test: lower
# target: avx512
# run: default rules
# A matrix by a vector: sums along its rows.

@T.prim_func
def by_vector(A: T.Buffer((96, 64), "float32"), x: T.Buffer((64,), "float32"), y: T.Buffer((96,), "float32")):
    for i, k in T.grid(96, 64):
        with T.block("y"):
            vi, vk = T.axis.remap("SR", [i, k])
            with T.init():
                y[vi] = T.float32(0)
            y[vi] = y[vi] + A[vi, vk] * x[vk]
# expect-listing:
# func by_vector()
#   param 0 A: float32[96, 64]
#   param 1 x: float32[64]
#   param 2 y: float32[96] written
#
# kernel by_vector  # y_init, y_update
#   array A: float32, 6144 elements, global read param 0
#   array x: float32, 64 elements, global read param 1
#   array y: float32, 96 elements, global read write param 2
#   array y_cell.3: float32, 1 elements, local
#   array y_cell.4: float32, 1 elements, local
#   array y_cell.5: float32, 1 elements, local
#   array y_cell.6: float32, 1 elements, local
#   cost 12288 flop, 25600 bytes; accesses proved
#   parallel for u_0_i_0_fused from 0, 24 times:
#     y[u_0_i_0_fused * 4] = 0.0
#     y[(u_0_i_0_fused * 4) + 1] = 0.0
#     y[(u_0_i_0_fused * 4) + 2] = 0.0
#     y[(u_0_i_0_fused * 4) + 3] = 0.0
#     y_cell.3[0] = y[u_0_i_0_fused * 4]
#     y_cell.4[0] = y[(u_0_i_0_fused * 4) + 1]
#     y_cell.5[0] = y[(u_0_i_0_fused * 4) + 2]
#     y_cell.6[0] = y[(u_0_i_0_fused * 4) + 3]
#     simd reduction for k from 0, 64 times:
#       y_cell.3[0] = y_cell.3[0] + (A[(u_0_i_0_fused * 256) + k] * x[k])
#       y_cell.4[0] = y_cell.4[0] + (A[((u_0_i_0_fused * 256) + k) + 64] * x[k])
#       y_cell.5[0] = y_cell.5[0] + (A[((u_0_i_0_fused * 256) + k) + 128] * x[k])
#       y_cell.6[0] = y_cell.6[0] + (A[((u_0_i_0_fused * 256) + k) + 192] * x[k])
#     y[u_0_i_0_fused * 4] = y_cell.3[0]
#     y[(u_0_i_0_fused * 4) + 1] = y_cell.4[0]
#     y[(u_0_i_0_fused * 4) + 2] = y_cell.5[0]
#     y[(u_0_i_0_fused * 4) + 3] = y_cell.6[0]
