# test: lower
# target: gpu
# A loop marked as `one_thread` needs no threads. A loop of one iteration needs none either. The last loop is neither.

@T.prim_func
def copies(X: T.Buffer((8,), "float32"), Y: T.Buffer((8,), "float32"), Z: T.Buffer((8,), "float32"), W: T.Buffer((8,), "float32")):
    for i in T.serial(8, annotations={"one_thread": True}):
        with T.block("marked"):
            vi = T.axis.spatial(8, i)
            Y[vi] = X[vi]
    for i in range(1):
        with T.block("single"):
            vi = T.axis.spatial(8, i)
            Z[vi] = X[vi]
    for i in T.thread_binding(8, "threadIdx.x"):
        with T.block("bound"):
            vi = T.axis.spatial(8, i)
            Z[vi] = X[vi]
    for i in range(2):
        with T.block("serial"):
            vi = T.axis.spatial(8, i)
            W[vi] = X[vi]
# expect-error:
# error: `copies`: the loops of block `serial` are not bound to threads; did you forget a schedule?
#    --> copies:24:5
#    |
# 24 |     for i in range(2):
#    |     ^^^^^^^^^^^^^^^^^^ loop `i`
