# test: lower
# target: avx512
# run: default rules
# Chunks of an open number of terms, which threads share; then their sums.

@T.prim_func
def total(a: T.handle, y: T.Buffer((1,), "float32")):
    n = T.int64()
    A = T.match_buffer(a, (n,), "float32")
    for i, k in T.grid(1, n):
        with T.block("y"):
            vi, vk = T.axis.remap("SR", [i, k])
            with T.init():
                y[vi] = T.float32(0)
            y[vi] = y[vi] + A[vk]
# expect-listing:
# func total(n)
#   param 0 a: float32[n]
#   param 1 y: float32[1] written
#   temp 0 y.rf: float32[((n + 16383) // 16384)]
#
# kernel total_0  # y_rf_init, y_rf_update
#   scalar size: int64 = (n + 16383) // 16384
#   scalar n: int64 = n
#   array A: float32, n elements, global read param 0
#   array y.rf: float32, (n + 16383) // 16384 elements, global read write temp 0
#   array y.rf_cell: float32, 1 elements, local
#   cost 0 + (((n + 16383) // 16384) * 16384) flop, (0 + (n * 4)) + (((n + 16383) // 16384) * 8) bytes; accesses proved
#   parallel for k_0 from 0, size times:
#     y.rf[k_0] = 0.0
#     if min((n - (k_0 * 16384)), 16384) > 0:
#       y.rf_cell[0] = y.rf[k_0]
#     simd reduction for k_1 from 0, min((n - (k_0 * 16384)), 16384) times:
#       y.rf_cell[0] = y.rf_cell[0] + A[(k_0 * 16384) + k_1]
#     if min((n - (k_0 * 16384)), 16384) > 0:
#       y.rf[k_0] = y.rf_cell[0]
#
# kernel total_1  # y_init, y_update
#   scalar size: int64 = (n + 16383) // 16384
#   array y: float32, 1 elements, global read write param 1
#   array y.rf: float32, (n + 16383) // 16384 elements, global read temp 0
#   array y_cell: float32, 1 elements, local
#   cost 0 + ((n + 16383) // 16384) flop, 8 + (((n + 16383) // 16384) * 4) bytes; accesses proved
#   y[0] = 0.0
#   if size > 0:
#     y_cell[0] = y[0]
#   simd reduction for k_0 from 0, size times:
#     y_cell[0] = y_cell[0] + y.rf[k_0]
#   if size > 0:
#     y[0] = y_cell[0]
