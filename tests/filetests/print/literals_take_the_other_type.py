# test: print
# Numbers, and what Python computes of them, become constants of the other operand's type without a stop at float32.

@T.prim_func
def main(A: T.Buffer((4,), "float64"), H: T.Buffer((4,), "float16"), I: T.Buffer((4,), "int64")):
    for i in range(4):
        A[i] = A[i] * 0.1 + 1e39
        A[i] = A[i] * (1.0 / 3.0) + 1 / 3
        A[i] = T.max(A[i], -(0.1)) + 2 ** 0.5 + T.float64(1.0 / 3.0)
        A[i] = T.fma(A[i], 0.1, 2 ** 3)
        H[i] = T.if_then_else(H[i] < 2.0 ** -3, 0.1, H[i])
        I[i] = I[i] + (1 << 40) - (7 // 2) % -2 + (5 & 3 | ~8)
# expect:
# from tvm.script import ir as I
# from tvm.script import tir as T

@I.ir_module
class Module:
    @T.prim_func
    def main(A: T.Buffer((4,), "float64"), H: T.Buffer((4,), "float16"), I_1: T.Buffer((4,), "int64")):
        # with T.block("root"):
        for i in range(4):
            A[i] = A[i] * T.float64(0.1) + T.float64(1e39)
            A[i] = A[i] * T.float64(0.3333333333333333) + T.float64(0.3333333333333333)
            A[i] = T.max(A[i], T.float64(-0.1)) + T.float64(1.4142135623730951) + T.float64(0.3333333333333333)
            A[i] = T.fma(A[i], T.float64(0.1), T.float64(8))
            H[i] = T.if_then_else(H[i] < T.float16(0.125), T.float16(0.099975586), H[i])
            I_1[i] = I_1[i] + T.int64(1099511627776) - T.int64(-1) + T.int64(-9)
