# test: sched
# run: unsafe_set_dtype("B", 1, "float16")
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
# error: unsafe_set_dtype: buffer index 1 is out of range: block `B` has 1 such regions
#   --> before:8:9
#   |
# 8 |         with T.block("B"):
#   |         ^^^^^^^^^^^^^^^^^^ block "B"
