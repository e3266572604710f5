# test: lower
# target: gpu
# run: default rules
# One short row: a workgroup reduces it twice and computes what follows, too.

@T.prim_func
def main(x: T.Buffer((33, 16), "float32"), y: T.Buffer((33, 16), "float32")):
    mean = T.alloc_buffer((1,))
    squares = T.alloc_buffer((1,))
    for u, i, j in T.grid(1, 33, 16):
        with T.block("mean"):
            vu, vi, vj = T.axis.remap("SRR", [u, i, j])
            with T.init():
                mean[vu] = T.float32(0)
            mean[vu] = mean[vu] + x[vi, vj]
    for u, i, j in T.grid(1, 33, 16):
        with T.block("squares"):
            vu, vi, vj = T.axis.remap("SRR", [u, i, j])
            with T.init():
                squares[vu] = T.float32(0)
            squares[vu] = squares[vu] + (x[vi, vj] - mean[vu]) * (x[vi, vj] - mean[vu])
    for i, j in T.grid(33, 16):
        with T.block("y"):
            vi, vj = T.axis.remap("SS", [i, j])
            y[vi, vj] = (x[vi, vj] - mean[0]) * T.rsqrt(squares[0])
# expect-listing:
# func main()
#   param 0 x: float32[33, 16]
#   param 1 y: float32[33, 16] written
#
# kernel main  # mean, squares, y
#   launch grid [1, 1, 1] block [128, 1, 1]
#   array x: float32, 528 elements, global read param 0
#   array y: float32, 528 elements, global write param 1
#   array mean_part: float32, 1 elements, local
#   array mean_parts: float32, 128 elements, shared
#   array squares_part: float32, 1 elements, local
#   array squares_parts: float32, 128 elements, shared
#   array mean: float32, 1 elements, local
#   array squares: float32, 1 elements, local
#   cost 4224 flop, 4224 bytes; accesses proved
#   mean_part[0] = 0.0
#   for ax0_ax1_fused_0.0 from 0, 4 times:
#     mean_part[0] = mean_part[0] + x[(ax0_ax1_fused_0.0 * 128) + threadIdx.x]
#   if threadIdx.x < 16:
#     mean_part[0] = mean_part[0] + x[threadIdx.x + 512]
#   mean_parts[threadIdx.x] = mean_part[0]
#   barrier
#   if threadIdx.x < 64:
#     mean_parts[threadIdx.x] = mean_parts[threadIdx.x] + mean_parts[threadIdx.x + 64]
#   barrier
#   if threadIdx.x < 32:
#     mean_parts[threadIdx.x] = mean_parts[threadIdx.x] + mean_parts[threadIdx.x + 32]
#   barrier
#   if threadIdx.x < 16:
#     mean_parts[threadIdx.x] = mean_parts[threadIdx.x] + mean_parts[threadIdx.x + 16]
#   barrier
#   if threadIdx.x < 8:
#     mean_parts[threadIdx.x] = mean_parts[threadIdx.x] + mean_parts[threadIdx.x + 8]
#   barrier
#   mean[0] = ((mean_parts[0] + mean_parts[4]) + (mean_parts[2] + mean_parts[6])) + ((mean_parts[1] + mean_parts[5]) + (mean_parts[3] + mean_parts[7]))
#   squares_part[0] = 0.0
#   for ax0_ax1_fused_0.1 from 0, 4 times:
#     let common.3 = x[(ax0_ax1_fused_0.1 * 128) + threadIdx.x] - mean[0]
#     squares_part[0] = squares_part[0] + (common.3 * common.3)
#   if threadIdx.x < 16:
#     let common.4 = x[threadIdx.x + 512] - mean[0]
#     squares_part[0] = squares_part[0] + (common.4 * common.4)
#   squares_parts[threadIdx.x] = squares_part[0]
#   barrier
#   if threadIdx.x < 64:
#     squares_parts[threadIdx.x] = squares_parts[threadIdx.x] + squares_parts[threadIdx.x + 64]
#   barrier
#   if threadIdx.x < 32:
#     squares_parts[threadIdx.x] = squares_parts[threadIdx.x] + squares_parts[threadIdx.x + 32]
#   barrier
#   if threadIdx.x < 16:
#     squares_parts[threadIdx.x] = squares_parts[threadIdx.x] + squares_parts[threadIdx.x + 16]
#   barrier
#   if threadIdx.x < 8:
#     squares_parts[threadIdx.x] = squares_parts[threadIdx.x] + squares_parts[threadIdx.x + 8]
#   barrier
#   squares[0] = ((squares_parts[0] + squares_parts[4]) + (squares_parts[2] + squares_parts[6])) + ((squares_parts[1] + squares_parts[5]) + (squares_parts[3] + squares_parts[7]))
#   for i_j_fused_0 from 0, 4 times:
#     y[(i_j_fused_0 * 128) + threadIdx.x] = (x[(i_j_fused_0 * 128) + threadIdx.x] - mean[0]) * rsqrt(squares[0])
#   if threadIdx.x < 16:
#     y[threadIdx.x + 512] = (x[threadIdx.x + 512] - mean[0]) * rsqrt(squares[0])
