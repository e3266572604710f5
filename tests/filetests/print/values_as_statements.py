# test: print
# A value may stand as a statement, threads may be counted in int16, and `~` of a bool is `not`.

@T.prim_func
def main(A: T.Buffer((64,), "float32"), F: T.Buffer((64,), "bool")):
    for tx in T.thread_binding(T.int16(64), thread="threadIdx.x"):
        F[tx] = ~F[tx]
        T.if_then_else(tx > T.int16(1), A[tx - T.int16(1)], T.float32(1))
    F[0] = T.bitwise_not(F[1])
    T.assume(F[0])
# expect:
# from tvm.script import ir as I
# from tvm.script import tir as T

@I.ir_module
class Module:
    @T.prim_func
    def main(A: T.Buffer((64,), "float32"), F: T.Buffer((64,), "bool")):
        # with T.block("root"):
        for tx in T.thread_binding(T.int16(64), thread="threadIdx.x"):
            F[tx] = not F[tx]
            T.evaluate(T.if_then_else(tx > T.int16(1), A[tx - T.int16(1)], T.float32(1)))
        F[0] = not F[1]
        T.assume(F[0])
