# test: lower
# target: avx512
# run: default rules
# Rows of two open extents: the epilogue is a kernel of its own, since its loops could not be spread with those of the sums.

@T.prim_func
def linear(a: T.handle, W: T.Buffer((8, 16), "float32"), B: T.Buffer((16,), "float32"), y: T.handle):
    n, m = T.int64(), T.int64()
    X = T.match_buffer(a, (n, m, 8), "float32")
    Y = T.match_buffer(y, (n, m, 16), "float32")
    C = T.alloc_buffer((n, m, 16), "float32")
    for i, j, o, k in T.grid(n, m, 16, 8):
        with T.block("C"):
            vi, vj, vo, vk = T.axis.remap("SSSR", [i, j, o, k])
            with T.init():
                C[vi, vj, vo] = T.float32(0)
            C[vi, vj, vo] = C[vi, vj, vo] + X[vi, vj, vk] * W[vk, vo]
    for i, j, o in T.grid(n, m, 16):
        with T.block("Y"):
            vi, vj, vo = T.axis.remap("SSS", [i, j, o])
            Y[vi, vj, vo] = T.max(C[vi, vj, vo] + B[vo], T.float32(0))
# expect-listing:
# func linear(n, m)
#   param 0 a: float32[n, m, 8]
#   param 1 W: float32[8, 16]
#   param 2 B: float32[16]
#   param 3 y: float32[n, m, 16] written
#   temp 0 C: float32[((n * m) * 16)]
#
# kernel linear_0  # C_init, W_local, C_update
#   scalar size.0: int64 = (n * m) // 128
#   scalar size.6: int64 = (((n * m) % 128) + 127) // 128
#   scalar size.8: int64 = ((n * m) % 128) // 8
#   scalar size.11: int64 = (n * m) % 8
#   scalar size.12: int64 = (n * m) // 8
#   array X: float32, (n * m) * 8 elements, global read param 0
#   array W: float32, 128 elements, global read param 1
#   array C: float32, (n * m) * 16 elements, global read write temp 0
#   array W_local: float32, 128 elements, local
#   cost 0 + ((((n * m) * 16) * 8) * 2) flop, ((0 + (((n * m) * 8) * 4)) + 512) + (((n * m) * 16) * 8) bytes; accesses proved
#   for i_j_fused_0.1 from 0, size.0 times:
#     for i_j_fused_1_init.2 from 0, 16 times:
#       C[(i_j_fused_0.1 * 2048) + (i_j_fused_1_init.2 * 128)] = splat16(0.0)
#       C[((i_j_fused_0.1 * 2048) + (i_j_fused_1_init.2 * 128)) + 16] = splat16(0.0)
#       C[((i_j_fused_0.1 * 2048) + (i_j_fused_1_init.2 * 128)) + 32] = splat16(0.0)
#       C[((i_j_fused_0.1 * 2048) + (i_j_fused_1_init.2 * 128)) + 48] = splat16(0.0)
#       C[((i_j_fused_0.1 * 2048) + (i_j_fused_1_init.2 * 128)) + 64] = splat16(0.0)
#       C[((i_j_fused_0.1 * 2048) + (i_j_fused_1_init.2 * 128)) + 80] = splat16(0.0)
#       C[((i_j_fused_0.1 * 2048) + (i_j_fused_1_init.2 * 128)) + 96] = splat16(0.0)
#       C[((i_j_fused_0.1 * 2048) + (i_j_fused_1_init.2 * 128)) + 112] = splat16(0.0)
#     for ax0.3 from 0, 8 times:
#       W_local[ax0.3 * 16] = W[ax0.3 * 16 : 16]
#     for i_j_fused_1.4 from 0, 16 times:
#       for k_1.5 from 0, 8 times:
#         C[(i_j_fused_0.1 * 2048) + (i_j_fused_1.4 * 128)] = C[(i_j_fused_0.1 * 2048) + (i_j_fused_1.4 * 128) : 16] + (splat16(X[(k_1.5 + (i_j_fused_0.1 * 1024)) + (i_j_fused_1.4 * 64)]) * W_local[k_1.5 * 16 : 16])
#         C[((i_j_fused_0.1 * 2048) + (i_j_fused_1.4 * 128)) + 16] = C[((i_j_fused_0.1 * 2048) + (i_j_fused_1.4 * 128)) + 16 : 16] + (splat16(X[((k_1.5 + (i_j_fused_0.1 * 1024)) + (i_j_fused_1.4 * 64)) + 8]) * W_local[k_1.5 * 16 : 16])
#         C[((i_j_fused_0.1 * 2048) + (i_j_fused_1.4 * 128)) + 32] = C[((i_j_fused_0.1 * 2048) + (i_j_fused_1.4 * 128)) + 32 : 16] + (splat16(X[((k_1.5 + (i_j_fused_0.1 * 1024)) + (i_j_fused_1.4 * 64)) + 16]) * W_local[k_1.5 * 16 : 16])
#         C[((i_j_fused_0.1 * 2048) + (i_j_fused_1.4 * 128)) + 48] = C[((i_j_fused_0.1 * 2048) + (i_j_fused_1.4 * 128)) + 48 : 16] + (splat16(X[((k_1.5 + (i_j_fused_0.1 * 1024)) + (i_j_fused_1.4 * 64)) + 24]) * W_local[k_1.5 * 16 : 16])
#         C[((i_j_fused_0.1 * 2048) + (i_j_fused_1.4 * 128)) + 64] = C[((i_j_fused_0.1 * 2048) + (i_j_fused_1.4 * 128)) + 64 : 16] + (splat16(X[((k_1.5 + (i_j_fused_0.1 * 1024)) + (i_j_fused_1.4 * 64)) + 32]) * W_local[k_1.5 * 16 : 16])
#         C[((i_j_fused_0.1 * 2048) + (i_j_fused_1.4 * 128)) + 80] = C[((i_j_fused_0.1 * 2048) + (i_j_fused_1.4 * 128)) + 80 : 16] + (splat16(X[((k_1.5 + (i_j_fused_0.1 * 1024)) + (i_j_fused_1.4 * 64)) + 40]) * W_local[k_1.5 * 16 : 16])
#         C[((i_j_fused_0.1 * 2048) + (i_j_fused_1.4 * 128)) + 96] = C[((i_j_fused_0.1 * 2048) + (i_j_fused_1.4 * 128)) + 96 : 16] + (splat16(X[((k_1.5 + (i_j_fused_0.1 * 1024)) + (i_j_fused_1.4 * 64)) + 48]) * W_local[k_1.5 * 16 : 16])
#         C[((i_j_fused_0.1 * 2048) + (i_j_fused_1.4 * 128)) + 112] = C[((i_j_fused_0.1 * 2048) + (i_j_fused_1.4 * 128)) + 112 : 16] + (splat16(X[((k_1.5 + (i_j_fused_0.1 * 1024)) + (i_j_fused_1.4 * 64)) + 56]) * W_local[k_1.5 * 16 : 16])
#   for i_j_fused_0.7 from 0, size.6 times:
#     for i_j_fused_1_init.9 from 0, size.8 times:
#       C[(size.0 * 2048) + (i_j_fused_1_init.9 * 128)] = splat16(0.0)
#       C[((size.0 * 2048) + (i_j_fused_1_init.9 * 128)) + 16] = splat16(0.0)
#       C[((size.0 * 2048) + (i_j_fused_1_init.9 * 128)) + 32] = splat16(0.0)
#       C[((size.0 * 2048) + (i_j_fused_1_init.9 * 128)) + 48] = splat16(0.0)
#       C[((size.0 * 2048) + (i_j_fused_1_init.9 * 128)) + 64] = splat16(0.0)
#       C[((size.0 * 2048) + (i_j_fused_1_init.9 * 128)) + 80] = splat16(0.0)
#       C[((size.0 * 2048) + (i_j_fused_1_init.9 * 128)) + 96] = splat16(0.0)
#       C[((size.0 * 2048) + (i_j_fused_1_init.9 * 128)) + 112] = splat16(0.0)
#     for i_j_fused_1_init.10 from 0, 16 - size.8 times:
#       if (i_j_fused_1_init.10 * 8) < size.11:
#         C[(i_j_fused_1_init.10 * 128) + (size.12 * 128)] = splat16(0.0)
#       if ((i_j_fused_1_init.10 * 8) + 1) < size.11:
#         C[((i_j_fused_1_init.10 * 128) + (size.12 * 128)) + 16] = splat16(0.0)
#       if ((i_j_fused_1_init.10 * 8) + 2) < size.11:
#         C[((i_j_fused_1_init.10 * 128) + (size.12 * 128)) + 32] = splat16(0.0)
#       if ((i_j_fused_1_init.10 * 8) + 3) < size.11:
#         C[((i_j_fused_1_init.10 * 128) + (size.12 * 128)) + 48] = splat16(0.0)
#       if ((i_j_fused_1_init.10 * 8) + 4) < size.11:
#         C[((i_j_fused_1_init.10 * 128) + (size.12 * 128)) + 64] = splat16(0.0)
#       if ((i_j_fused_1_init.10 * 8) + 5) < size.11:
#         C[((i_j_fused_1_init.10 * 128) + (size.12 * 128)) + 80] = splat16(0.0)
#       if ((i_j_fused_1_init.10 * 8) + 6) < size.11:
#         C[((i_j_fused_1_init.10 * 128) + (size.12 * 128)) + 96] = splat16(0.0)
#     for ax0.13 from 0, 8 times:
#       W_local[ax0.13 * 16] = W[ax0.13 * 16 : 16]
#     for i_j_fused_1.14 from 0, size.8 times:
#       for k_1.15 from 0, 8 times:
#         C[(size.0 * 2048) + (i_j_fused_1.14 * 128)] = C[(size.0 * 2048) + (i_j_fused_1.14 * 128) : 16] + (splat16(X[(k_1.15 + (size.0 * 1024)) + (i_j_fused_1.14 * 64)]) * W_local[k_1.15 * 16 : 16])
#         C[((size.0 * 2048) + (i_j_fused_1.14 * 128)) + 16] = C[((size.0 * 2048) + (i_j_fused_1.14 * 128)) + 16 : 16] + (splat16(X[((k_1.15 + (size.0 * 1024)) + (i_j_fused_1.14 * 64)) + 8]) * W_local[k_1.15 * 16 : 16])
#         C[((size.0 * 2048) + (i_j_fused_1.14 * 128)) + 32] = C[((size.0 * 2048) + (i_j_fused_1.14 * 128)) + 32 : 16] + (splat16(X[((k_1.15 + (size.0 * 1024)) + (i_j_fused_1.14 * 64)) + 16]) * W_local[k_1.15 * 16 : 16])
#         C[((size.0 * 2048) + (i_j_fused_1.14 * 128)) + 48] = C[((size.0 * 2048) + (i_j_fused_1.14 * 128)) + 48 : 16] + (splat16(X[((k_1.15 + (size.0 * 1024)) + (i_j_fused_1.14 * 64)) + 24]) * W_local[k_1.15 * 16 : 16])
#         C[((size.0 * 2048) + (i_j_fused_1.14 * 128)) + 64] = C[((size.0 * 2048) + (i_j_fused_1.14 * 128)) + 64 : 16] + (splat16(X[((k_1.15 + (size.0 * 1024)) + (i_j_fused_1.14 * 64)) + 32]) * W_local[k_1.15 * 16 : 16])
#         C[((size.0 * 2048) + (i_j_fused_1.14 * 128)) + 80] = C[((size.0 * 2048) + (i_j_fused_1.14 * 128)) + 80 : 16] + (splat16(X[((k_1.15 + (size.0 * 1024)) + (i_j_fused_1.14 * 64)) + 40]) * W_local[k_1.15 * 16 : 16])
#         C[((size.0 * 2048) + (i_j_fused_1.14 * 128)) + 96] = C[((size.0 * 2048) + (i_j_fused_1.14 * 128)) + 96 : 16] + (splat16(X[((k_1.15 + (size.0 * 1024)) + (i_j_fused_1.14 * 64)) + 48]) * W_local[k_1.15 * 16 : 16])
#         C[((size.0 * 2048) + (i_j_fused_1.14 * 128)) + 112] = C[((size.0 * 2048) + (i_j_fused_1.14 * 128)) + 112 : 16] + (splat16(X[((k_1.15 + (size.0 * 1024)) + (i_j_fused_1.14 * 64)) + 56]) * W_local[k_1.15 * 16 : 16])
#     for i_j_fused_1.16 from 0, 16 - size.8 times:
#       for k_1.17 from 0, 8 times:
#         if (i_j_fused_1.16 * 8) < size.11:
#           C[(i_j_fused_1.16 * 128) + (size.12 * 128)] = C[(i_j_fused_1.16 * 128) + (size.12 * 128) : 16] + (splat16(X[((k_1.17 + (size.0 * 1024)) + (i_j_fused_1.16 * 64)) + (size.8 * 64)]) * W_local[k_1.17 * 16 : 16])
#         if ((i_j_fused_1.16 * 8) + 1) < size.11:
#           C[((i_j_fused_1.16 * 128) + (size.12 * 128)) + 16] = C[((i_j_fused_1.16 * 128) + (size.12 * 128)) + 16 : 16] + (splat16(X[(((k_1.17 + (size.0 * 1024)) + (i_j_fused_1.16 * 64)) + (size.8 * 64)) + 8]) * W_local[k_1.17 * 16 : 16])
#         if ((i_j_fused_1.16 * 8) + 2) < size.11:
#           C[((i_j_fused_1.16 * 128) + (size.12 * 128)) + 32] = C[((i_j_fused_1.16 * 128) + (size.12 * 128)) + 32 : 16] + (splat16(X[(((k_1.17 + (size.0 * 1024)) + (i_j_fused_1.16 * 64)) + (size.8 * 64)) + 16]) * W_local[k_1.17 * 16 : 16])
#         if ((i_j_fused_1.16 * 8) + 3) < size.11:
#           C[((i_j_fused_1.16 * 128) + (size.12 * 128)) + 48] = C[((i_j_fused_1.16 * 128) + (size.12 * 128)) + 48 : 16] + (splat16(X[(((k_1.17 + (size.0 * 1024)) + (i_j_fused_1.16 * 64)) + (size.8 * 64)) + 24]) * W_local[k_1.17 * 16 : 16])
#         if ((i_j_fused_1.16 * 8) + 4) < size.11:
#           C[((i_j_fused_1.16 * 128) + (size.12 * 128)) + 64] = C[((i_j_fused_1.16 * 128) + (size.12 * 128)) + 64 : 16] + (splat16(X[(((k_1.17 + (size.0 * 1024)) + (i_j_fused_1.16 * 64)) + (size.8 * 64)) + 32]) * W_local[k_1.17 * 16 : 16])
#         if ((i_j_fused_1.16 * 8) + 5) < size.11:
#           C[((i_j_fused_1.16 * 128) + (size.12 * 128)) + 80] = C[((i_j_fused_1.16 * 128) + (size.12 * 128)) + 80 : 16] + (splat16(X[(((k_1.17 + (size.0 * 1024)) + (i_j_fused_1.16 * 64)) + (size.8 * 64)) + 40]) * W_local[k_1.17 * 16 : 16])
#         if ((i_j_fused_1.16 * 8) + 6) < size.11:
#           C[((i_j_fused_1.16 * 128) + (size.12 * 128)) + 96] = C[((i_j_fused_1.16 * 128) + (size.12 * 128)) + 96 : 16] + (splat16(X[(((k_1.17 + (size.0 * 1024)) + (i_j_fused_1.16 * 64)) + (size.8 * 64)) + 48]) * W_local[k_1.17 * 16 : 16])
#
# kernel linear_1  # Y
#   scalar n: int64 = n
#   scalar m: int64 = m
#   array B: float32, 16 elements, global read param 2
#   array Y: float32, (n * m) * 16 elements, global write param 3
#   array C: float32, (n * m) * 16 elements, global read temp 0
#   cost 0 + (((n * m) * 16) * 2) flop, (64 + (((n * m) * 16) * 4)) + (((n * m) * 16) * 4) bytes; accesses proved
#   parallel for i from 0, n times:
#     for j from 0, m times:
#       Y[((i * 16) * m) + (j * 16)] = max((C[((i * 16) * m) + (j * 16) : 16] + B[0 : 16]), splat16(0.0))
