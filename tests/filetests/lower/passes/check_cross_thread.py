# test: lower
# target: gpu
# run: until check_cross_thread
# Threads may store to one tensor in three cases. Each thread accesses elements of its own (A and B). One thread alone accesses the
# tensor (C). All threads store the same value (D).

@T.prim_func
def separate(A: T.Buffer((64,), "float32"), B: T.Buffer((4, 4), "float32"), C: T.Buffer((8,), "float32"), D: T.Buffer((1,), "float32")):
    for t in T.thread_binding(16, "threadIdx.x"):
        for j in range(4):
            A[t * 4 + j] = A[t * 4 + 3 - j] * T.float32(2)
    for t in T.thread_binding(16, "threadIdx.x"):
        B[t // 4, t % 4] = B[t // 4, t % 4] * T.float32(2)
    for t in T.thread_binding(8, "threadIdx.x"):
        if t == 3:
            C[0] = C[7] * T.float32(2)
            C[7] = C[0] + T.float32(1)
    for t in T.thread_binding(8, "threadIdx.x"):
        D[0] = T.float32(2)
# expect-listing:
# after check_cross_thread:
# nest  #
#   axis threadIdx_x = threadIdx.x: 16
#   for j in 0 .. 4
#     A[threadIdx_x * 4 + j] = A[threadIdx_x * 4 - j + 3] * T.float32(2)
# nest  #
#   axis threadIdx_x = threadIdx.x: 16
#   B[threadIdx_x // 4, threadIdx_x % 4] = B[threadIdx_x // 4, threadIdx_x % 4] * T.float32(2)
# nest  #
#   axis threadIdx_x = threadIdx.x: 8
#   if threadIdx_x == 3
#     C[0] = C[7] * T.float32(2)
#     C[7] = C[0] + T.float32(1)
# nest  #
#   axis threadIdx_x = threadIdx.x: 8
#   D[0] = T.float32(2)
