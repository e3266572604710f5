# test: print
# Scalars that statements assign, and hints to loops.

@T.prim_func
def main(A: T.Buffer((16,), "float32")):
    sum: T.float32
    count: T.int32
    sum = T.float32(0)
    count = 0
    for i in T.serial(16, unroll=True):
        sum = sum + A[i]
        count += 1
    for i in T.serial(4, unroll=False):
        A[i] = sum / T.Cast("float32", count)
# expect:
# from tvm.script import ir as I
# from tvm.script import tir as T

@I.ir_module
class Module:
    @T.prim_func
    def main(A: T.Buffer((16,), "float32")):
        # with T.block("root"):
        sum = T.alloc_buffer((), scope="local")
        count = T.alloc_buffer((), "int32", scope="local")
        sum[()] = T.float32(0)
        count[()] = 0
        for i in T.serial(16, annotations={"pragma_unroll": True}):
            sum[()] = sum[()] + A[i]
            count[()] = count[()] + 1
        for i in T.serial(4, annotations={"disable_unroll": True}):
            A[i] = sum[()] / T.Cast("float32", count[()])
