# test: print
# Element types of at most eight bits, constants of them, and conversions.

@T.prim_func
def main(A: T.Buffer((128,), "float8_e4m3fn"), B: T.Buffer((128,), "float8_e5m2"), C: T.Buffer((8,), "int4")):
    for i in range(128):
        A[i] = A[i] * A[i] + T.float8_e4m3fn(0.3)
        B[i] = T.Cast("float8_e5m2", T.Cast("float32", A[i])) + T.float8_e5m2("inf")
    C[0] = T.int4(-8) + T.Cast("int4", T.uint4(15))
    T.evaluate(T.float4_e2m1fn(6))
    T.evaluate(T.Broadcast(T.float6_e3m2fn(28), 4))
# expect:
# from tvm.script import ir as I
# from tvm.script import tir as T

@I.ir_module
class Module:
    @T.prim_func
    def main(A: T.Buffer((128,), "float8_e4m3fn"), B: T.Buffer((128,), "float8_e5m2"), C: T.Buffer((8,), "int4")):
        # with T.block("root"):
        for i in range(128):
            A[i] = A[i] * A[i] + T.float8_e4m3fn(0.3125)
            B[i] = T.Cast("float8_e5m2", T.Cast("float32", A[i])) + T.float8_e5m2("inf")
        C[0] = T.int4(-8) + T.Cast("int4", T.uint4(15))
        T.evaluate(T.float4_e2m1fn(6))
        T.evaluate(T.Broadcast(T.float6_e3m2fn(28), 4))
