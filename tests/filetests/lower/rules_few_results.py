# test: lower
# target: gpu
# run: default rules
# Three sums of terms that lie apart in memory: a workgroup each.

@T.prim_func
def main(x: T.Buffer((1000, 3), "float32"), y: T.Buffer((3,), "float32")):
    for i, k in T.grid(3, 1000):
        with T.block("sum"):
            vi, vk = T.axis.remap("SR", [i, k])
            with T.init():
                y[vi] = T.float32(0)
            y[vi] = y[vi] + x[vk, vi]
# expect-listing:
# func main()
#   param 0 x: float32[1000, 3]
#   param 1 y: float32[3] written
#
# kernel main  # sum
#   launch grid [3, 1, 1] block [128, 1, 1]
#   array x: float32, 3000 elements, global read param 0
#   array y: float32, 3 elements, global write param 1
#   array sum_part: float32, 1 elements, local
#   array sum_parts: float32, 128 elements, shared
#   cost 3000 flop, 12012 bytes; accesses proved
#   sum_part[0] = 0.0
#   sum_part[0] = sum_part[0] + x[(threadIdx.x * 3) + blockIdx.x]
#   sum_part[0] = sum_part[0] + x[((threadIdx.x * 3) + blockIdx.x) + 384]
#   sum_part[0] = sum_part[0] + x[((threadIdx.x * 3) + blockIdx.x) + 768]
#   sum_part[0] = sum_part[0] + x[((threadIdx.x * 3) + blockIdx.x) + 1152]
#   sum_part[0] = sum_part[0] + x[((threadIdx.x * 3) + blockIdx.x) + 1536]
#   sum_part[0] = sum_part[0] + x[((threadIdx.x * 3) + blockIdx.x) + 1920]
#   sum_part[0] = sum_part[0] + x[((threadIdx.x * 3) + blockIdx.x) + 2304]
#   if threadIdx.x < 104:
#     sum_part[0] = sum_part[0] + x[((threadIdx.x * 3) + blockIdx.x) + 2688]
#   sum_parts[threadIdx.x] = sum_part[0]
#   barrier
#   if threadIdx.x < 64:
#     sum_parts[threadIdx.x] = sum_parts[threadIdx.x] + sum_parts[threadIdx.x + 64]
#   barrier
#   if threadIdx.x < 32:
#     sum_parts[threadIdx.x] = sum_parts[threadIdx.x] + sum_parts[threadIdx.x + 32]
#   barrier
#   if threadIdx.x < 16:
#     sum_parts[threadIdx.x] = sum_parts[threadIdx.x] + sum_parts[threadIdx.x + 16]
#   barrier
#   if threadIdx.x < 8:
#     sum_parts[threadIdx.x] = sum_parts[threadIdx.x] + sum_parts[threadIdx.x + 8]
#   barrier
#   if threadIdx.x == 0:
#     y[blockIdx.x] = ((sum_parts[0] + sum_parts[4]) + (sum_parts[2] + sum_parts[6])) + ((sum_parts[1] + sum_parts[5]) + (sum_parts[3] + sum_parts[7]))
