# test: lower
# target: cpu
# run: until check_stack
# The local arrays of a kernel may take 262144 bytes of stack. L takes 262080 bytes, and M takes the other 64 for its single byte.

@T.prim_func
def mirrored(X: T.Buffer((2, 65520), "float32"), B: T.Buffer((2,), "int8"), Y: T.Buffer((2, 65520), "float32")):
    L = T.alloc_buffer((65520,), "float32", scope="local")
    M = T.alloc_buffer((1,), "int8", scope="local")
    for i in range(2):
        M[0] = B[i]
        for j in range(65520):
            L[j] = X[i, j]
        for j in range(65520):
            Y[i, j] = L[65519 - j] + T.Cast("float32", M[0])
# expect-listing:
# after check_stack:
# kernel mirrored  #
#   array X: float32, 131040 elements, global read param 0
#   array B: int8, 2 elements, global read param 1
#   array Y: float32, 131040 elements, global write param 2
#   array M: int8, 1 elements, local
#   array L: float32, 65520 elements, local
#   cost 131040 flop, 1048322 bytes; accesses proved
#   for i from 0, 2 times:
#     M[0] = B[i]
#     for j.1 from 0, 65520 times:
#       L[j.1] = X[(i * 65520) + j.1]
#     for j.2 from 0, 65520 times:
#       Y[(i * 65520) + j.2] = L[(j.2 * -1) + 65519] + float32(M[0])
