# test: print
# Other spellings of the same: operators with one more operand, barriers, vectors, floats without a literal.

@I.ir_module
class Module:
    @T.prim_func
    def loops(A: T.Buffer((8,), "float32"), B: T.Buffer((8,), "float32")):
        T.storage_sync("shared")
        B[T.ramp(0, 2, 4)] = T.broadcast(A[0], 4) + T.Broadcast(T.float32(float("-inf")), 4)

    @R.function
    def main(q: R.Tensor((1, 2, 2, 4), "float32"), bias: R.Tensor((1, 2, 2, 2), "float32")) -> R.Tensor((1, 2, 2, 4), "float32"):
        a = R.nn.attention(q, q, q, bias)
        b = R.nn.attention(a, q, q, None, 0.5)
        c = R.nn.attention(b, q, q, bias=bias, scale=0.25)
        d = R.nn.attention(c, q, q, bias=None, causal_mask="TopLeft")
        return d
# expect:
# from tvm.script import ir as I
# from tvm.script import tir as T
# from tvm.script import relax as R

@I.ir_module
class Module:
    @T.prim_func
    def loops(A: T.Buffer((8,), "float32"), B: T.Buffer((8,), "float32")):
        # with T.block("root"):
        T.evaluate(T.tvm_storage_sync("shared"))
        B[T.Ramp(0, 2, 4)] = T.Broadcast(A[0], 4) + T.Broadcast(T.float32("-inf"), 4)

    @R.function
    def main(q: R.Tensor((1, 2, 2, 4), dtype="float32"), bias: R.Tensor((1, 2, 2, 2), dtype="float32")) -> R.Tensor((1, 2, 2, 4), dtype="float32"):
        a: R.Tensor((1, 2, 2, 4), dtype="float32") = R.nn.attention_bias(q, q, q, bias)
        b: R.Tensor((1, 2, 2, 4), dtype="float32") = R.nn.attention(a, q, q, scale=0.5)
        c: R.Tensor((1, 2, 2, 4), dtype="float32") = R.nn.attention_bias(b, q, q, bias, scale=0.25)
        d: R.Tensor((1, 2, 2, 4), dtype="float32") = R.nn.attention(c, q, q, causal_mask="TopLeft")
        return d
