# test: lower
# target: cpu
# run: until check_stack, promote_accumulators
# The elements of two rows are apart if rows have elements: the loop is there twice, with variables of its own. Without iterations nothing
# is read or written. Whether accesses are proved in bounds makes no difference: each stays where it was.

@T.prim_func
def sums(x: T.handle, c: T.handle):
    n = T.int64()
    m = T.int64()
    X = T.match_buffer(x, (m,), "float32")
    C = T.match_buffer(c, (2, n), "float32")
    for k in range(m):
        C[0, 0] = C[0, 0] + X[k]
        C[1, 0] = C[1, 0] + X[k] * X[k]
# expect-listing:
# after check_stack:
# kernel sums  #
#   scalar m: int64 = m
#   scalar n: int64 = n
#   array X: float32, m elements, global read param 0
#   array C: float32, 2 * n elements, global read write param 1
#   cost 0 + (m + (m * 2)) flop, (0 + (m * 4)) + ((2 * n) * 8) bytes; accesses checked
#   for k from 0, m times:
#     C[0] = C[0] + X[k]
#     C[n] = C[n] + (X[k] * X[k])
#
# after promote_accumulators:
# kernel sums  #
#   scalar m: int64 = m
#   scalar n: int64 = n
#   array X: float32, m elements, global read param 0
#   array C: float32, 2 * n elements, global read write param 1
#   array C_cell.2: float32, 1 elements, local
#   array C_cell.3: float32, 1 elements, local
#   cost 0 + (m + (m * 2)) flop, (0 + (m * 4)) + ((2 * n) * 8) bytes; accesses checked
#   if (n >= 1) or (n <= -1):
#     if m > 0:
#       C_cell.2[0] = C[0]
#       C_cell.3[0] = C[n]
#     for k.1 from 0, m times:
#       C_cell.2[0] = C_cell.2[0] + X[k.1]
#       C_cell.3[0] = C_cell.3[0] + (X[k.1] * X[k.1])
#     if m > 0:
#       C[0] = C_cell.2[0]
#       C[n] = C_cell.3[0]
#   else:
#     for k.3 from 0, m times:
#       C[0] = C[0] + X[k.3]
#       C[n] = C[n] + (X[k.3] * X[k.3])
