# test: pass
# target: avx2
# run: pack_weights {"parameters": true}
# Both products want the first weight in panels, and share it. The second is read as it is, too: it keeps its layout.

@I.ir_module
class Module:
    @T.prim_func(private=True)
    def product(A: T.Buffer((4, 8), "float32"), B: T.Buffer((8, 20), "float32"), C: T.Buffer((4, 20), "float32")):
        for i, j, k in T.grid(4, 20, 8):
            with T.sblock("C"):
                vi, vj, vk = T.axis.remap("SSR", [i, j, k])
                with T.init():
                    C[vi, vj] = T.float32(0)
                C[vi, vj] = C[vi, vj] + A[vi, vk] * B[vk, vj]

    @T.prim_func(private=True)
    def double(B: T.Buffer((8, 20), "float32"), D: T.Buffer((8, 20), "float32")):
        for i, j in T.grid(8, 20):
            with T.sblock("D"):
                vi, vj = T.axis.remap("SS", [i, j])
                D[vi, vj] = B[vi, vj] * T.float32(2)

    @R.function
    def main(x: R.Tensor((4, 8), "float32"), y: R.Tensor((4, 8), "float32"), v: R.Tensor((8, 20), "float32"), w: R.Tensor((8, 20), "float32")):
        R.func_attr({"num_input": 2})
        cls = Module
        with R.dataflow():
            a = R.call_tir(cls.product, (x, v), out_sinfo=R.Tensor((4, 20), "float32"))
            b = R.call_tir(cls.product, (y, v), out_sinfo=R.Tensor((4, 20), "float32"))
            c = R.call_tir(cls.product, (x, w), out_sinfo=R.Tensor((4, 20), "float32"))
            d = R.call_tir(cls.double, (w,), out_sinfo=R.Tensor((8, 20), "float32"))
            R.output(a, b, c, d)
        return (a, b, c, d)
# expect:
# from tvm.script import ir as I
# from tvm.script import tir as T
# from tvm.script import relax as R

@I.ir_module
class Module:
    @T.prim_func(private=True)
    def double(B: T.Buffer((8, 20), "float32"), D: T.Buffer((8, 20), "float32")):
        # with T.block("root"):
        for i, j in T.grid(8, 20):
            with T.block("D"):
                vi, vj = T.axis.remap("SS", [i, j])
                T.reads(B[vi, vj])
                T.writes(D[vi, vj])
                D[vi, vj] = B[vi, vj] * T.float32(2)

    @T.prim_func(private=True)
    def panels(W: T.Buffer((8, 20), "float32"), P: T.Buffer((2, 8, 16), "float32")):
        # with T.block("root"):
        for i0, i1, i2 in T.grid(T.int64(2), T.int64(8), T.int64(16)):
            with T.block("P"):
                v_i0, v_i1, v_i2 = T.axis.remap("SSS", [i0, i1, i2])
                T.reads(W[v_i1, v_i0 * T.int64(16) + v_i2])
                T.writes(P[v_i0, v_i1, v_i2])
                P[v_i0, v_i1, v_i2] = T.if_then_else(v_i0 * T.int64(16) + v_i2 < T.int64(20), W[v_i1, v_i0 * T.int64(16) + v_i2], T.float32(0))

    @T.prim_func(private=True)
    def product(A: T.Buffer((4, 8), "float32"), B: T.Buffer((8, 20), "float32"), C: T.Buffer((4, 20), "float32")):
        # with T.block("root"):
        for i, j, k in T.grid(4, 20, 8):
            with T.block("C"):
                vi, vj, vk = T.axis.remap("SSR", [i, j, k])
                T.reads(A[vi, vk], B[vk, vj])
                T.writes(C[vi, vj])
                with T.init():
                    C[vi, vj] = T.float32(0)
                C[vi, vj] = C[vi, vj] + A[vi, vk] * B[vk, vj]

    @T.prim_func(private=True)
    def product_packed(A: T.Buffer((4, 8), "float32"), B: T.Buffer((2, 8, 16), "float32"), C: T.Buffer((4, 20), "float32")):
        # with T.block("root"):
        for i, j, k in T.grid(4, 20, 8):
            with T.block("C"):
                vi, vj, vk = T.axis.remap("SSR", [i, j, k])
                T.reads(A[vi, vk], B[vj // 16, vk, vj % 16])
                T.writes(C[vi, vj])
                with T.init():
                    C[vi, vj] = T.float32(0)
                C[vi, vj] = C[vi, vj] + A[vi, vk] * B[vj // 16, vk, vj % 16]

    @R.function
    def main(x: R.Tensor((4, 8), dtype="float32"), y: R.Tensor((4, 8), dtype="float32"), v: R.Tensor((8, 20), dtype="float32"), w: R.Tensor((8, 20), dtype="float32")) -> R.Tuple(R.Tensor((4, 20), dtype="float32"), R.Tensor((4, 20), dtype="float32"), R.Tensor((4, 20), dtype="float32"), R.Tensor((8, 20), dtype="float32")):
        R.func_attr({"num_input": 2})
        cls = Module
        with R.dataflow():
            packed = R.call_tir(cls.panels, (v,), out_sinfo=R.Tensor((2, 8, 16), dtype="float32"))
            a = R.call_tir(cls.product_packed, (x, packed), out_sinfo=R.Tensor((4, 20), dtype="float32"))
            b = R.call_tir(cls.product_packed, (y, packed), out_sinfo=R.Tensor((4, 20), dtype="float32"))
            c = R.call_tir(cls.product, (x, w), out_sinfo=R.Tensor((4, 20), dtype="float32"))
            d = R.call_tir(cls.double, (w,), out_sinfo=R.Tensor((8, 20), dtype="float32"))
            R.output(a, b, c, d)
        return (a, b, c, d)
