# test: lower
# target: cpu

@T.prim_func
def some(X: T.Buffer((8,), "int32"), Y: T.Buffer((8,), "int32")):
    S = T.alloc_buffer((8,), "int32", scope="shared")
    for t in T.thread_binding(8, "threadIdx.x"):
        for k in range(X[t]):
            S[t] = X[t]
            T.tvm_storage_sync("shared")
            Y[t] = S[7 - t]

# expect-error:
# error: `some`: threads meet at `T.tvm_storage_sync` under a condition or loop that differs between threads
#   --> some:8:9
#   |
# 8 |         for k in range(X[t]):
#   |         ^^^^^^^^^^^^^^^^^^^^^ loop `k`
