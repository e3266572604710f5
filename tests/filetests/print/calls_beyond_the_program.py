# test: print
# Calls of functions and instructions that the program does not define, and values by their bits.

@I.ir_module
class Module:
    @T.prim_func(private=True)
    def helper(x: T.float32) -> T.float32:
        return x * x

    @T.prim_func
    def main(A: T.Buffer((16,), "float32"), B: T.Buffer((16,), "uint32")):
        T.call_extern("int32", "log_it", A.data, T.address_of(A[3]), 7)
        T.call_packed("tvm.test", T.tvm_access_ptr(T.type_annotation("float32"), A.data, 0, 16, 1))
        A[0] = T.call_pure_extern("float32", "sinpif", A[1]) + Module.helper(A[2])
        B[0] = T.reinterpret("uint32", A[4]) >> T.uint32(31)
        A[5] = T.copysign(A[6], A[7]) + T.hypot(A[8], 2.0)
        A[9] = T.undef() + T.nextafter(A[11], A[12])
        T.tvm_kernel_replace_point()
        T.exp(A[10])
# expect:
# from tvm.script import ir as I
# from tvm.script import tir as T

@I.ir_module
class Module:
    @T.prim_func(private=True)
    def helper(x: T.float32) -> T.float32:
        # with T.block("root"):
        return x * x

    @T.prim_func
    def main(A: T.Buffer((16,), "float32"), B: T.Buffer((16,), "uint32")):
        # with T.block("root"):
        T.evaluate(T.call_extern("int32", "log_it", A.data, T.address_of(A[3]), 7))
        T.evaluate(T.call_packed("tvm.test", T.tvm_access_ptr(T.type_annotation("float32"), A.data, 0, 16, 1)))
        A[0] = T.call_pure_extern("float32", "sinpif", A[1]) + Module.helper(A[2])
        B[0] = T.reinterpret("uint32", A[4]) >> T.uint32(31)
        A[5] = T.reinterpret("float32", T.reinterpret("uint32", A[6]) & T.bitwise_not(T.uint32(2147483648)) | T.reinterpret("uint32", A[7]) & T.uint32(2147483648)) + T.sqrt(A[8] * A[8] + T.Mul(T.float32(2), T.float32(2)))
        A[9] = T.Cast("float32", T.undef()) + T.nextafter(A[11], A[12])
        T.evaluate(T.tvm_kernel_replace_point())
        T.evaluate(T.exp(A[10]))
