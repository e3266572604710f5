# test: lower
# target: cpu
# Each local array begins in a cache line of its own. L takes 262144 bytes of stack for its 262084, and M takes 64 for its single
# byte.

@T.prim_func
def mirrored(X: T.Buffer((2, 65521), "float32"), B: T.Buffer((2,), "int8"), Y: T.Buffer((2, 65521), "float32")):
    L = T.alloc_buffer((65521,), "float32", scope="local")
    M = T.alloc_buffer((1,), "int8", scope="local")
    for i in range(2):
        M[0] = B[i]
        for j in range(65521):
            L[j] = X[i, j]
        for j in range(65521):
            Y[i, j] = L[65520 - j] + T.Cast("float32", M[0])
# expect-error:
# error: `mirrored`: needs 262208 bytes of stack for local arrays, the device has 262144
#   --> mirrored:8:5
#   |
# 8 |     for i in range(2):
#   |     ^^^^^^^^^^^^^^^^^^ loop `i`
