# test: print
# A scalar converted to a vector type is converted first, then spread.

@T.prim_func
def main(A: T.Buffer((4,), "int32"), B: T.Buffer((8,), "float32")):
    for i in range(2):
        B[i * 4:i * 4 + 4] = T.float32x4(A[i])
        B[i * 4:i * 4 + 4] = T.Cast("float32x4", A[i])
        B[i * 4:i * 4 + 4] = T.float32x4(A[0:4]) + T.float32x4(1)
        B[i * 4:i * 4 + 4] = T.Select(A[0:4] < 3, 1.0, B[0:4])
# expect:
# from tvm.script import ir as I
# from tvm.script import tir as T

@I.ir_module
class Module:
    @T.prim_func
    def main(A: T.Buffer((4,), "int32"), B: T.Buffer((8,), "float32")):
        # with T.block("root"):
        for i in range(2):
            B[i * 4:i * 4 + 4] = T.Broadcast(T.Cast("float32", A[i]), 4)
            B[i * 4:i * 4 + 4] = T.Broadcast(T.Cast("float32", A[i]), 4)
            B[i * 4:i * 4 + 4] = T.Cast("float32x4", A[0:4]) + T.Broadcast(T.float32(1), 4)
            B[i * 4:i * 4 + 4] = T.Select(A[0:4] < T.Broadcast(3, 4), T.Broadcast(T.float32(1), 4), B[0:4])
