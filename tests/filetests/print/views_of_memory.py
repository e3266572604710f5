# test: print
# A second way to index the memory of a buffer, of a parameter, and of an address.

@T.prim_func
def main(A: T.Buffer((4, 8), "float32"), p: T.handle("float32", "global"), h: T.handle):
    flat = A.view(32)
    bits = A.view("uint8")
    odd = T.decl_buffer((16,), data=A.data, strides=(2,), elem_offset=1)
    with T.decl_buffer((4,), "int32", data=p) as P:
        P[0] = 1
    scratch = T.decl_buffer((4,), "float32", scope="local")
    q: T.let[T.handle("float32")] = T.handle_add_byte_offset(p, 8)
    Q = T.Buffer((2,), data=q)
    if not T.isnullptr(h):
        scratch[0] = flat[3] + odd[2] + Q[1] + T.Cast("float32", bits[0, 0])
    A[0, 0] = scratch[0] + T.Cast("float32", A.shape[1] * A.strides[0])
# expect:
# from tvm.script import ir as I
# from tvm.script import tir as T

@I.ir_module
class Module:
    @T.prim_func
    def main(A: T.Buffer((4, 8), "float32"), p: T.uint64, h: T.uint64):
        # with T.block("root"):
        scratch = T.alloc_buffer((4,), scope="local")
        flat = T.decl_buffer((32,), data=A.data)
        bits = T.decl_buffer((4, 32), "uint8", data=A.data)
        odd = T.decl_buffer((16,), strides=(2,), elem_offset=1, data=A.data)
        with T.decl_buffer((4,), "int32", data=p) as P:
            P[0] = 1
        q: T.uint64 = p + T.uint64(8)
        Q = T.decl_buffer((2,), data=q)
        if not h == T.uint64(0):
            scratch[0] = flat[3] + odd[2] + Q[1] + T.Cast("float32", bits[0, 0])
        A[0, 0] = scratch[0] + T.Cast("float32", T.Mul(8, 8))
