# test: lower
# target: cpu
# run: default rules
# The rule for elements fuses a loop of int64 with one of int32; the condition takes the fused one together with numbers of int32.
@T.prim_func
def main(A: T.Buffer((1, 24), "float32"), C: T.Buffer((1, 24), "float32")):
    for i, j in T.grid(T.int64(1), 32):
        with T.block("C"):
            vi = T.axis.spatial(T.int64(1), T.int64(0))
            vj = T.axis.spatial(24, j)
            T.where(T.Mul(0, 32) + j < 24)
            C[vi, vj] = A[vi, vj] + T.float32(1)
# expect-listing:
# func main()
#   param 0 A: float32[1, 24]
#   param 1 C: float32[1, 24] written
#
# kernel main  # C
#   array A: float32, 24 elements, global read param 0
#   array C: float32, 24 elements, global write param 1
#   cost 24 flop, 192 bytes; accesses proved
#   parallel for i_j_fused_0 from 0, 2 times:
#     if i_j_fused_0 < 1:
#       C[0] = A[0 : 16] + splat16(1.0)
#     else:
#       C[16 : 16, first 8] = A[16 : 16, first 8] + splat16(1.0)
