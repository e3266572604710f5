# test: pass
# target: gpu
# run: pack_weights {"parameters": true}
# A convolution wants its weights in the order in which it copies them: taps, channels of the image, channels of the result. An argument keeps its order.

@I.ir_module
class Module:
    @T.prim_func(private=True)
    def convolution(X: T.Buffer((1, 8, 6, 6), "float32"), W: T.Buffer((16, 8, 3, 3), "float32"), Y: T.Buffer((1, 16, 4, 4), "float32")):
        for n, o, h, w, i, r, s in T.grid(1, 16, 4, 4, 8, 3, 3):
            with T.sblock("Y"):
                vn, vo, vh, vw, vi, vr, vs = T.axis.remap("SSSSRRR", [n, o, h, w, i, r, s])
                with T.init():
                    Y[vn, vo, vh, vw] = T.float32(0)
                Y[vn, vo, vh, vw] = Y[vn, vo, vh, vw] + X[vn, vi, vh + vr, vw + vs] * W[vo, vi, vr, vs]

    @R.function
    def main(x: R.Tensor((1, 8, 6, 6), "float32"), a: R.Tensor((16, 8, 3, 3), "float32"), w: R.Tensor((16, 8, 3, 3), "float32")):
        R.func_attr({"num_input": 2})
        cls = Module
        with R.dataflow():
            y = R.call_tir(cls.convolution, (x, a), out_sinfo=R.Tensor((1, 16, 4, 4), "float32"))
            z = R.call_tir(cls.convolution, (x, w), out_sinfo=R.Tensor((1, 16, 4, 4), "float32"))
            R.output(y, z)
        return (y, z)
# expect:
# from tvm.script import ir as I
# from tvm.script import tir as T
# from tvm.script import relax as R

@I.ir_module
class Module:
    @T.prim_func(private=True)
    def convolution(X: T.Buffer((1, 8, 6, 6), "float32"), W: T.Buffer((16, 8, 3, 3), "float32"), Y: T.Buffer((1, 16, 4, 4), "float32")):
        # with T.block("root"):
        for n, o, h, w, i, r, s in T.grid(1, 16, 4, 4, 8, 3, 3):
            with T.block("Y"):
                vn, vo, vh, vw, vi, vr, vs = T.axis.remap("SSSSRRR", [n, o, h, w, i, r, s])
                T.reads(X[vn, vi, vh + vr, vw + vs], W[vo, vi, vr, vs])
                T.writes(Y[vn, vo, vh, vw])
                with T.init():
                    Y[vn, vo, vh, vw] = T.float32(0)
                Y[vn, vo, vh, vw] = Y[vn, vo, vh, vw] + X[vn, vi, vh + vr, vw + vs] * W[vo, vi, vr, vs]

    @T.prim_func(private=True)
    def convolution_packed(X: T.Buffer((1, 8, 6, 6), "float32"), W: T.Buffer((3, 3, 8, 16), "float32"), Y: T.Buffer((1, 16, 4, 4), "float32")):
        # with T.block("root"):
        for n, o, h, w, i, r, s in T.grid(1, 16, 4, 4, 8, 3, 3):
            with T.block("Y"):
                vn, vo, vh, vw, vi, vr, vs = T.axis.remap("SSSSRRR", [n, o, h, w, i, r, s])
                T.reads(X[vn, vi, vh + vr, vw + vs], W[vr, vs, vi, vo])
                T.writes(Y[vn, vo, vh, vw])
                with T.init():
                    Y[vn, vo, vh, vw] = T.float32(0)
                Y[vn, vo, vh, vw] = Y[vn, vo, vh, vw] + X[vn, vi, vh + vr, vw + vs] * W[vr, vs, vi, vo]

    @T.prim_func(private=True)
    def permuted(W: T.Buffer((16, 8, 3, 3), "float32"), P: T.Buffer((3, 3, 8, 16), "float32")):
        # with T.block("root"):
        for i0, i1, i2, i3 in T.grid(T.int64(3), T.int64(3), T.int64(8), T.int64(16)):
            with T.block("P"):
                v_i0, v_i1, v_i2, v_i3 = T.axis.remap("SSSS", [i0, i1, i2, i3])
                T.reads(W[v_i3, v_i2, v_i0, v_i1])
                T.writes(P[v_i0, v_i1, v_i2, v_i3])
                P[v_i0, v_i1, v_i2, v_i3] = W[v_i3, v_i2, v_i0, v_i1]

    @R.function
    def main(x: R.Tensor((1, 8, 6, 6), dtype="float32"), a: R.Tensor((16, 8, 3, 3), dtype="float32"), w: R.Tensor((16, 8, 3, 3), dtype="float32")) -> R.Tuple(R.Tensor((1, 16, 4, 4), dtype="float32"), R.Tensor((1, 16, 4, 4), dtype="float32")):
        R.func_attr({"num_input": 2})
        cls = Module
        with R.dataflow():
            y = R.call_tir(cls.convolution, (x, a), out_sinfo=R.Tensor((1, 16, 4, 4), dtype="float32"))
            packed = R.call_tir(cls.permuted, (w,), out_sinfo=R.Tensor((3, 3, 8, 16), dtype="float32"))
            z = R.call_tir(cls.convolution_packed, (x, packed), out_sinfo=R.Tensor((1, 16, 4, 4), dtype="float32"))
            R.output(y, z)
        return (y, z)
