# test: pass
# target: avx2
# run: pack_weights {"parameters": true}
# A panel of four channels is worth its sixteen columns, since the convolution would copy it for each block of pixels. One of three is not,
# nor one of four for a single pixel.

@I.ir_module
class Module:
    @T.prim_func(private=True)
    def four(X: T.Buffer((1, 8, 6, 6), "float32"), W: T.Buffer((4, 8, 3, 3), "float32"), Y: T.Buffer((1, 4, 4, 4), "float32")):
        for n, o, h, w, i, r, s in T.grid(1, 4, 4, 4, 8, 3, 3):
            with T.sblock("Y"):
                vn, vo, vh, vw, vi, vr, vs = T.axis.remap("SSSSRRR", [n, o, h, w, i, r, s])
                with T.init():
                    Y[vn, vo, vh, vw] = T.float32(0)
                Y[vn, vo, vh, vw] = Y[vn, vo, vh, vw] + X[vn, vi, vh + vr, vw + vs] * W[vo, vi, vr, vs]

    @T.prim_func(private=True)
    def three(X: T.Buffer((1, 8, 6, 6), "float32"), W: T.Buffer((3, 8, 3, 3), "float32"), Y: T.Buffer((1, 3, 4, 4), "float32")):
        for n, o, h, w, i, r, s in T.grid(1, 3, 4, 4, 8, 3, 3):
            with T.sblock("Y"):
                vn, vo, vh, vw, vi, vr, vs = T.axis.remap("SSSSRRR", [n, o, h, w, i, r, s])
                with T.init():
                    Y[vn, vo, vh, vw] = T.float32(0)
                Y[vn, vo, vh, vw] = Y[vn, vo, vh, vw] + X[vn, vi, vh + vr, vw + vs] * W[vo, vi, vr, vs]

    @T.prim_func(private=True)
    def one_pixel(X: T.Buffer((1, 8, 3, 3), "float32"), W: T.Buffer((4, 8, 3, 3), "float32"), Y: T.Buffer((1, 4, 1, 1), "float32")):
        for n, o, h, w, i, r, s in T.grid(1, 4, 1, 1, 8, 3, 3):
            with T.sblock("Y"):
                vn, vo, vh, vw, vi, vr, vs = T.axis.remap("SSSSRRR", [n, o, h, w, i, r, s])
                with T.init():
                    Y[vn, vo, vh, vw] = T.float32(0)
                Y[vn, vo, vh, vw] = Y[vn, vo, vh, vw] + X[vn, vi, vh + vr, vw + vs] * W[vo, vi, vr, vs]

    @R.function
    def main(x: R.Tensor((1, 8, 6, 6), "float32"), v: R.Tensor((1, 8, 3, 3), "float32"), a: R.Tensor((4, 8, 3, 3), "float32"), b: R.Tensor((3, 8, 3, 3), "float32"), d: R.Tensor((4, 8, 3, 3), "float32")):
        R.func_attr({"num_input": 2})
        cls = Module
        with R.dataflow():
            y = R.call_tir(cls.four, (x, a), out_sinfo=R.Tensor((1, 4, 4, 4), "float32"))
            z = R.call_tir(cls.three, (x, b), out_sinfo=R.Tensor((1, 3, 4, 4), "float32"))
            p = R.call_tir(cls.one_pixel, (v, d), out_sinfo=R.Tensor((1, 4, 1, 1), "float32"))
            R.output(y, z, p)
        return (y, z, p)
# expect:
# from tvm.script import ir as I
# from tvm.script import tir as T
# from tvm.script import relax as R

@I.ir_module
class Module:
    @T.prim_func(private=True)
    def four(X: T.Buffer((1, 8, 6, 6), "float32"), W: T.Buffer((4, 8, 3, 3), "float32"), Y: T.Buffer((1, 4, 4, 4), "float32")):
        # with T.block("root"):
        for n, o, h, w, i, r, s in T.grid(1, 4, 4, 4, 8, 3, 3):
            with T.block("Y"):
                vn, vo, vh, vw, vi, vr, vs = T.axis.remap("SSSSRRR", [n, o, h, w, i, r, s])
                T.reads(X[vn, vi, vh + vr, vw + vs], W[vo, vi, vr, vs])
                T.writes(Y[vn, vo, vh, vw])
                with T.init():
                    Y[vn, vo, vh, vw] = T.float32(0)
                Y[vn, vo, vh, vw] = Y[vn, vo, vh, vw] + X[vn, vi, vh + vr, vw + vs] * W[vo, vi, vr, vs]

    @T.prim_func(private=True)
    def four_packed(X: T.Buffer((1, 8, 6, 6), "float32"), W: T.Buffer((1, 8, 3, 3, 16), "float32"), Y: T.Buffer((1, 4, 4, 4), "float32")):
        # with T.block("root"):
        for n, o, h, w, i, r, s in T.grid(1, 4, 4, 4, 8, 3, 3):
            with T.block("Y"):
                vn, vo, vh, vw, vi, vr, vs = T.axis.remap("SSSSRRR", [n, o, h, w, i, r, s])
                T.reads(X[vn, vi, vh + vr, vw + vs], W[vo // 16, vi, vr, vs, vo % 16])
                T.writes(Y[vn, vo, vh, vw])
                with T.init():
                    Y[vn, vo, vh, vw] = T.float32(0)
                Y[vn, vo, vh, vw] = Y[vn, vo, vh, vw] + X[vn, vi, vh + vr, vw + vs] * W[vo // 16, vi, vr, vs, vo % 16]

    @T.prim_func(private=True)
    def one_pixel(X: T.Buffer((1, 8, 3, 3), "float32"), W: T.Buffer((4, 8, 3, 3), "float32"), Y: T.Buffer((1, 4, 1, 1), "float32")):
        # with T.block("root"):
        for n, o, h, w, i, r, s in T.grid(1, 4, 1, 1, 8, 3, 3):
            with T.block("Y"):
                vn, vo, vh, vw, vi, vr, vs = T.axis.remap("SSSSRRR", [n, o, h, w, i, r, s])
                T.reads(X[vn, vi, vh + vr, vw + vs], W[vo, vi, vr, vs])
                T.writes(Y[vn, vo, vh, vw])
                with T.init():
                    Y[vn, vo, vh, vw] = T.float32(0)
                Y[vn, vo, vh, vw] = Y[vn, vo, vh, vw] + X[vn, vi, vh + vr, vw + vs] * W[vo, vi, vr, vs]

    @T.prim_func(private=True)
    def panels(W: T.Buffer((4, 8, 3, 3), "float32"), P: T.Buffer((1, 8, 3, 3, 16), "float32")):
        # with T.block("root"):
        for i0, i1, i2, i3, i4 in T.grid(T.int64(1), T.int64(8), T.int64(3), T.int64(3), T.int64(16)):
            with T.block("P"):
                v_i0, v_i1, v_i2, v_i3, v_i4 = T.axis.remap("SSSSS", [i0, i1, i2, i3, i4])
                T.reads(W[v_i0 * T.int64(16) + v_i4, v_i1, v_i2, v_i3])
                T.writes(P[v_i0, v_i1, v_i2, v_i3, v_i4])
                P[v_i0, v_i1, v_i2, v_i3, v_i4] = T.if_then_else(v_i0 * T.int64(16) + v_i4 < T.int64(4), W[v_i0 * T.int64(16) + v_i4, v_i1, v_i2, v_i3], T.float32(0))

    @T.prim_func(private=True)
    def three(X: T.Buffer((1, 8, 6, 6), "float32"), W: T.Buffer((3, 8, 3, 3), "float32"), Y: T.Buffer((1, 3, 4, 4), "float32")):
        # with T.block("root"):
        for n, o, h, w, i, r, s in T.grid(1, 3, 4, 4, 8, 3, 3):
            with T.block("Y"):
                vn, vo, vh, vw, vi, vr, vs = T.axis.remap("SSSSRRR", [n, o, h, w, i, r, s])
                T.reads(X[vn, vi, vh + vr, vw + vs], W[vo, vi, vr, vs])
                T.writes(Y[vn, vo, vh, vw])
                with T.init():
                    Y[vn, vo, vh, vw] = T.float32(0)
                Y[vn, vo, vh, vw] = Y[vn, vo, vh, vw] + X[vn, vi, vh + vr, vw + vs] * W[vo, vi, vr, vs]

    @R.function
    def main(x: R.Tensor((1, 8, 6, 6), dtype="float32"), v: R.Tensor((1, 8, 3, 3), dtype="float32"), a: R.Tensor((4, 8, 3, 3), dtype="float32"), b: R.Tensor((3, 8, 3, 3), dtype="float32"), d: R.Tensor((4, 8, 3, 3), dtype="float32")) -> R.Tuple(R.Tensor((1, 4, 4, 4), dtype="float32"), R.Tensor((1, 3, 4, 4), dtype="float32"), R.Tensor((1, 4, 1, 1), dtype="float32")):
        R.func_attr({"num_input": 2})
        cls = Module
        with R.dataflow():
            packed = R.call_tir(cls.panels, (a,), out_sinfo=R.Tensor((1, 8, 3, 3, 16), dtype="float32"))
            y = R.call_tir(cls.four_packed, (x, packed), out_sinfo=R.Tensor((1, 4, 4, 4), dtype="float32"))
            z = R.call_tir(cls.three, (x, b), out_sinfo=R.Tensor((1, 3, 4, 4), dtype="float32"))
            p = R.call_tir(cls.one_pixel, (v, d), out_sinfo=R.Tensor((1, 4, 1, 1), dtype="float32"))
            R.output(y, z, p)
        return (y, z, p)
