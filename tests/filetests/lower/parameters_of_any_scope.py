# test: lower
# target: gpu
# A parameter is in device memory whatever scope it names, as those of tensor intrinsics do.

@T.prim_func
def main(A: T.Buffer((16, 4), "float32", scope="shared"), B: T.Buffer((16, 4), "float32", scope="warp")):
    for i in T.thread_binding(16, thread="threadIdx.x"):
        for j in range(4):
            B[i, j] = A[i, 3 - j]

# expect-listing:
# func main()
#   param 0 A: float32[16, 4]
#   param 1 B: float32[16, 4] written
#
# kernel main  #
#   launch grid [1, 1, 1] block [16, 1, 1]
#   array A: float32, 64 elements, global read param 0
#   array B: float32, 64 elements, global write param 1
#   cost 0 flop, 512 bytes; accesses proved
#   for j from 0, 4 times:
#     B[(threadIdx.x * 4) + j] = A[((threadIdx.x * 4) - j) + 3]
