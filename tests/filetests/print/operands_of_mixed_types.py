# test: print
# Of one width the unsigned integer wins, and float16 over bfloat16; calls of three arguments are brought to one type as well.

@T.prim_func
def main(I: T.Buffer((4,), "int32"), U: T.Buffer((4,), "uint32"), H: T.Buffer((4,), "float16"), B: T.Buffer((4,), "bfloat16"), F: T.Buffer((4,), "float32"), D: T.Buffer((4,), "float64")):
    for i in range(4):
        U[i] = I[i] + U[i]
        U[i] = T.max(U[i], I[i])
        H[i] = B[i] * H[i]
        D[i] = T.fma(F[i], D[i], 2)
        D[i] = T.fma(I[i], 0.5, D[i])
# expect:
# from tvm.script import ir as I
# from tvm.script import tir as T

@I.ir_module
class Module:
    @T.prim_func
    def main(I_1: T.Buffer((4,), "int32"), U: T.Buffer((4,), "uint32"), H: T.Buffer((4,), "float16"), B: T.Buffer((4,), "bfloat16"), F: T.Buffer((4,), "float32"), D: T.Buffer((4,), "float64")):
        # with T.block("root"):
        for i in range(4):
            U[i] = T.Cast("uint32", I_1[i]) + U[i]
            U[i] = T.max(U[i], T.Cast("uint32", I_1[i]))
            H[i] = T.Cast("float16", B[i]) * H[i]
            D[i] = T.fma(T.Cast("float64", F[i]), D[i], T.float64(2))
            D[i] = T.fma(T.Cast("float64", I_1[i]), T.float64(0.5), D[i])
