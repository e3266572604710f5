# test: lower
# target: gpu
# The predicate leaves out the iteration that runs the init: the elements keep what they are.

@T.prim_func
def sums(A: T.Buffer((6, 8), "float32"), B: T.Buffer((6,), "float32")):
    for i in T.thread_binding(6, "blockIdx.x"):
        for j in T.thread_binding(8, "threadIdx.x"):
            with T.block("sum"):
                vi, vj = T.axis.remap("SR", [i, j])
                T.where(2 <= j)
                with T.init():
                    B[vi] = T.float32(100)
                B[vi] = B[vi] + A[vi, vj]

# expect-error:
# error: `sums`: block `sum` reduces over threads, but its predicate leaves out the iteration in which the init runs
#   --> sums:8:13
#   |
# 8 |             with T.block("sum"):
#   |             ^^^^^^^^^^^^^^^^^^^^ block "sum"
