# test: print
# Operations that the threads of a scope run together, and hints: kept with their operands, regions and keywords.

@T.prim_func(persistent=True)
def main(A: T.Buffer((64, 64), "float16"), B: T.Buffer((64, 64), "float16"), C: T.Buffer((64, 64), "float32"), flag: T.int32):
    scratch = T.alloc_shared((64,))
    with T.hint("persistent scheduler", depth=4, access=A[0:16, 0:64]):
        for k in range(4):
            T.cta.copy(A[k * 16:k * 16 + 16, 0:64], B[0:16, k * 16:k * 16 + 64], dispatch="tma_explicit", mbar=C.data, chosen=[[flag < 4, B]])
            T.thread.gemm(C, A[:, 0:16], B[0:16, :], C, False, True, T.float32(1), T.float32(0))
    T.warpgroup.sum(C[0:64, 0], C[0:64, 0:64], [1], workspace={"smem": scratch})
    T.tile.select(C[0:8, 0:8], C[8:16, 0:8], T.float32(0), lambda i, j: i < j)
    T.tile.memset(C[0, 0:64], T.float32(0))
    T.hint("nothing follows")
# expect:
# from tvm.script import ir as I
# from tvm.script import tir as T

@I.ir_module
class Module:
    @T.prim_func
    def main(A: T.Buffer((64, 64), "float16"), B: T.Buffer((64, 64), "float16"), C: T.Buffer((64, 64), "float32"), flag: T.int32):
        T.func_attr({"tirx.persistent_kernel": True})
        # with T.block("root"):
        scratch = T.alloc_buffer((64,), scope="shared")
        with T.hint("persistent scheduler", depth=4, access=A[0:16, 0:64]):
            for k in range(4):
                T.cta.copy(A[k * 16:k * 16 + 16, 0:64], B[0:16, k * 16:k * 16 + 64], dispatch="tma_explicit", mbar=C.data, chosen=[[flag < 4, B]])
                T.tile.gemm(C, A[0:64, 0:16], B[0:16, 0:64], C, False, True, T.float32(1), T.float32(0))
        T.wg.sum(C[0:64, 0], C[0:64, 0:64], [1], workspace={"smem": scratch})
        T.tile.select(C[0:8, 0:8], C[8:16, 0:8], T.float32(0), lambda i, j: i < j)
        T.tile.memset(C[0, 0:64], T.float32(0))
        with T.hint("nothing follows"):
            pass
