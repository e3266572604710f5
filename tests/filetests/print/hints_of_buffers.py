# test: print
# What is said of a buffer beyond its elements, and parameters that are extents of buffers before them.

@T.prim_func
def main(A: T.Buffer(("n", "m"), "float32", strides=(s, 1), align=128), b: T.handle, n: T.int32, m: T.int32, s: T.int32):
    B = T.match_buffer(b, (16,), "float16", offset_factor=16, axis_separators=[])
    C = T.alloc_buffer((n, 4), axis_separators=[1], annotations={"kept": True})
    for i in range(n):
        C[i, 0] = A[i, m - 1] + T.Cast("float32", B[i % 16])
        A[i, 0] = C[i, 0]
# expect:
# from tvm.script import ir as I
# from tvm.script import tir as T

@I.ir_module
class Module:
    @T.prim_func
    def main(var_A: T.handle, b: T.handle, n: T.int32, m: T.int32, s: T.int32):
        A = T.match_buffer(var_A, (n, m), strides=(s, 1), align=128)
        B_elem_offset = T.int32()
        B = T.match_buffer(b, (16,), "float16", elem_offset=B_elem_offset, offset_factor=16)
        # with T.block("root"):
        C = T.alloc_buffer((n, 4), axis_separators=[1], annotations={"kept": True})
        for i in range(n):
            C[i, 0] = A[i, m - 1] + T.Cast("float32", B[i % 16])
            A[i, 0] = C[i, 0]
