# test: lower
# target: lavapipe
# The loops are too long for one launch. Several launches would have to keep L between them. L of all 67108864 threads has 2147483648
# elements, and a buffer has at most 2147483647.

@T.prim_func
def steps(X: T.Buffer((120000,), "float32"), Y: T.Buffer((67108864,), "float32")):
    L = T.alloc_buffer((32,), "float32", scope="local")
    for b in T.thread_binding(1048576, "blockIdx.x"):
        for t in T.thread_binding(64, "threadIdx.x"):
            for i in range(30000):
                for j in range(4):
                    L[i % 8 * 4 + j] = X[i * 4 + j]
            Y[b * 64 + t] = L[t % 32]
# expect-error:
# error: `steps`: kernel `steps`: a thread goes through loops 180002 times or more, but this software adapter ends every loop after 65535; spread the reduction over threads, or run it on the CPU
#   --> steps:7:5
#   |
# 7 |     for b in T.thread_binding(1048576, thread="blockIdx.x"):
#   |     ^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^ loop `b`
