# test: lower
# target: cpu
# Where threads are iterations of a loop, it is split where they meet. The sum is kept for each thread; its loop is outside.

@T.prim_func
def rotate(X: T.Buffer((64,), "float32"), Y: T.Buffer((64,), "float32")):
    S = T.alloc_buffer((64,), "float32", scope="shared")
    R = T.alloc_buffer((1,), "float32", scope="local")
    for t in T.thread_binding(64, "threadIdx.x"):
        R[0] = T.float32(0)
        for k in range(3):
            S[t] = X[t] * T.cast(k, "float32")
            T.tvm_storage_sync("shared")
            R[0] = R[0] + S[63 - t]
            T.tvm_storage_sync("shared")
        Y[t] = R[0]

# expect-listing:
# func rotate()
#   param 0 X: float32[64]
#   param 1 Y: float32[64] written
#
# kernel rotate  #
#   array X: float32, 64 elements, global read param 0
#   array Y: float32, 64 elements, global write param 1
#   array R: float32, 64 elements, local
#   array S: float32, 64 elements, local
#   cost 384 flop, 512 bytes; accesses proved
#   for t.0 from 0, 64 times:
#     R[t.0] = 0.0
#   for k from 0, 3 times:
#     for t.2 from 0, 64 times:
#       S[t.2] = X[t.2] * float32(k)
#     for t.3 from 0, 64 times:
#       R[t.3] = R[t.3] + S[(t.3 * -1) + 63]
#   for t.4 from 0, 64 times:
#     Y[t.4] = R[t.4]
