# test: sched
# run: unsafe_set_dtype("D", 0, "float16")
@T.prim_func
def before(A: T.Buffer((48, 20), "float32"), D: T.Buffer((48, 20), "float32")):
    B = T.alloc_buffer((48, 20), "float32")
    for i, j in T.grid(48, 20):
        with T.block("B"):
            vi, vj = T.axis.remap("SS", [i, j])
            B[vi, vj] = A[vi, vj] + T.float32(1)
    for i, j in T.grid(48, 20):
        with T.block("D"):
            vi, vj = T.axis.remap("SS", [i, j])
            D[vi, vj] = B[vi, vj] * T.float32(2)
# expect-error:
# error: unsafe_set_dtype: buffer `D` is not allocated in this function, so its storage is not ours to choose
#    --> before:14:9
#    |
# 14 |         with T.block("D"):
#    |         ^^^^^^^^^^^^^^^^^^ block "D"
