# test: sched
# run: loop_partition(loop("B", 0), [4])
# run: merge([loop("A2", 0), loop("C", 0)])
@T.prim_func
def before(A: T.Buffer((8,), "float32"), C: T.Buffer((8,), "float32")):
    A2 = T.alloc_buffer((8,), "float32")
    B = T.alloc_buffer((8,), "float32")
    for i in range(8):
        with T.block("A2"):
            vi = T.axis.spatial(8, i)
            A2[vi] = A[vi] + T.float32(1)
    for i in range(8):
        with T.block("B"):
            vi = T.axis.spatial(8, i)
            B[vi] = A2[vi] + T.float32(1)
    for i in range(8):
        with T.block("C"):
            vi = T.axis.spatial(8, i)
            C[vi] = B[vi] + T.float32(1)
# expect-error:
# error: merge: block `A2` would run on the wrong side of `B_i_common`, on which it depends, or which depends on it
#    --> before:9:9
#    |
#  9 |         with T.block("A2"):
#    |         ^^^^^^^^^^^^^^^^^^^ block "A2"
#    .
# 14 |     with T.block("B_i_common"):
#    |     --------------------------- block "B_i_common"
