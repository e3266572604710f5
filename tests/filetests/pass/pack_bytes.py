# test: pass
# target: avx2
# run: pack_bytes
# Products of bytes, signed and unsigned, with zero points of every kind, and an open number of rows.

@I.ir_module
class Module:
    @R.function
    def plain(x: R.Tensor((3, 8), "uint8"), w: R.Tensor((8, 5), "int8")) -> R.Tensor((3, 5), "int32"):
        with R.dataflow():
            a = R.astype(x, dtype="int32")
            b = R.astype(w, dtype="int32")
            y = R.matmul(a, b)
            R.output(y)
        return y

    @R.function
    def moved(
        x: R.Tensor(("n", 2, 7), "int8"), w: R.Tensor((7, 5), "uint8"), zx: R.Tensor((2, 1), "int8"), zw: R.Tensor((5,), "uint8")
    ) -> R.Tensor(("n", 2, 5), "int32"):
        with R.dataflow():
            a = R.subtract(R.astype(x, dtype="int32"), R.astype(zx, dtype="int32"))
            b = R.subtract(R.astype(w, dtype="int32"), R.astype(zw, dtype="int32"))
            y = R.matmul(a, b)
            R.output(y)
        return y

    @R.function
    def windows(
        x: R.Tensor((1, 6, 5, 5), "uint8"), w: R.Tensor((3, 6, 3, 3), "int8"), zx: R.Tensor((), "uint8")
    ) -> R.Tensor((1, 3, 3, 3), "int32"):
        with R.dataflow():
            a = R.subtract(R.astype(x, dtype="int32"), R.astype(zx, dtype="int32"))
            b = R.astype(w, dtype="int32")
            y = R.nn.conv2d(a, b, strides=[2, 2], padding=[1, 1, 1, 1])
            R.output(y)
        return y

    @R.function
    def filters(
        x: R.Tensor((1, 4, 3, 3), "int8"), w: R.Tensor((2, 4, 2, 2), "uint8"), zw: R.Tensor((2, 1, 1, 1), "uint8")
    ) -> R.Tensor((1, 2, 2, 2), "int32"):
        with R.dataflow():
            b = R.subtract(R.astype(w, dtype="int32"), R.astype(zw, dtype="int32"))
            y = R.nn.conv2d(R.astype(x, dtype="int32"), b)
            R.output(y)
        return y

    # Not a matrix, and groups of channels: as they are.
    @R.function
    def kept(
        x: R.Tensor((2, 3, 8), "uint8"), w: R.Tensor((2, 8, 5), "int8"), i: R.Tensor((1, 4, 3, 3), "uint8"), k: R.Tensor((2, 2, 3, 3), "uint8")
    ) -> R.Tuple(R.Tensor((2, 3, 5), "int32"), R.Tensor((1, 2, 1, 1), "int32")):
        with R.dataflow():
            y = R.matmul(R.astype(x, dtype="int32"), R.astype(w, dtype="int32"))
            z = R.nn.conv2d(R.astype(i, dtype="int32"), R.astype(k, dtype="int32"), groups=2)
            R.output(y, z)
        return (y, z)

    # A zero point along the sum, one of another type, an open number of steps, and open channels: as they are.
    @R.function
    def checked(
        x: R.Tensor((8, 8), "uint8"), w: R.Tensor((8, 8), "int8"), z: R.Tensor((8,), "uint8"), t: R.Tensor((), "int32"),
        o: R.Tensor(("n", "k"), "uint8"), i: R.Tensor((1, "c", 5, 5), "uint8"), f: R.Tensor((2, 4, 3, 3), "int8")
    ) -> R.Tuple(R.Tensor((8, 8), "int32"), R.Tensor((8, 8), "int32"), R.Tensor(("n", 8), "int32"), R.Tensor((1, 2, 3, 3), "int32")):
        with R.dataflow():
            b = R.astype(w, dtype="int32")
            p = R.matmul(R.subtract(R.astype(x, dtype="int32"), R.astype(z, dtype="int32")), b)
            q = R.matmul(R.subtract(R.astype(x, dtype="int32"), t), b)
            r = R.matmul(R.astype(o, dtype="int32"), b)
            s = R.nn.conv2d(R.astype(i, dtype="int32"), R.astype(f, dtype="int32"))
            R.output(p, q, r, s)
        return (p, q, r, s)
# expect:
# from tvm.script import ir as I
# from tvm.script import tir as T
# from tvm.script import relax as R

@I.ir_module
class Module:
    @T.prim_func(private=True)
    def convolution_of_words(A: T.Buffer((1, 2, 7, 7), "int32"), B: T.Buffer((3, 2, 3, 3), "int32"), conv: T.Buffer((1, 3, 3, 3), "int32")):
        T.func_attr({"op_pattern": 4})
        # with T.block("root"):
        for i0, i1, i2, i3, rc, ry, rx in T.grid(T.int64(1), T.int64(3), T.int64(3), T.int64(3), T.int64(2), T.int64(3), T.int64(3)):
            with T.block("conv"):
                v_i0, v_i1, v_i2, v_i3, v_rc, v_ry, v_rx = T.axis.remap("SSSSRRR", [i0, i1, i2, i3, rc, ry, rx])
                T.reads(A[v_i0, v_rc, v_i2 * T.int64(2) + v_ry, v_i3 * T.int64(2) + v_rx], B[v_i1, v_rc, v_ry, v_rx])
                T.writes(conv[v_i0, v_i1, v_i2, v_i3])
                with T.init():
                    conv[v_i0, v_i1, v_i2, v_i3] = 0
                conv[v_i0, v_i1, v_i2, v_i3] = conv[v_i0, v_i1, v_i2, v_i3] + T.dp4a_u8s8s32(A[v_i0, v_rc, v_i2 * T.int64(2) + v_ry, v_i3 * T.int64(2) + v_rx], B[v_i1, v_rc, v_ry, v_rx], 0)

    @T.prim_func(private=True)
    def convolution_of_words1(A: T.Buffer((1, 1, 3, 3), "int32"), B: T.Buffer((2, 1, 2, 2), "int32"), conv: T.Buffer((1, 2, 2, 2), "int32")):
        T.func_attr({"op_pattern": 4})
        # with T.block("root"):
        for i0, i1, i2, i3, rc, ry, rx in T.grid(T.int64(1), T.int64(2), T.int64(2), T.int64(2), T.int64(1), T.int64(2), T.int64(2)):
            with T.block("conv"):
                v_i0, v_i1, v_i2, v_i3, v_rc, v_ry, v_rx = T.axis.remap("SSSSRRR", [i0, i1, i2, i3, rc, ry, rx])
                T.reads(A[v_i0, v_rc, v_ry + v_i2, v_rx + v_i3], B[v_i1, v_rc, v_ry, v_rx])
                T.writes(conv[v_i0, v_i1, v_i2, v_i3])
                with T.init():
                    conv[v_i0, v_i1, v_i2, v_i3] = 0
                conv[v_i0, v_i1, v_i2, v_i3] = conv[v_i0, v_i1, v_i2, v_i3] + T.dp4a_u8s8s32(A[v_i0, v_rc, v_ry + v_i2, v_rx + v_i3], B[v_i1, v_rc, v_ry, v_rx], 0)

    @T.prim_func(private=True)
    def matmul_of_words(A: T.Buffer((3, 2), "int32"), B: T.Buffer((2, 5), "int32"), matmul: T.Buffer((3, 5), "int32")):
        T.func_attr({"op_pattern": 4})
        # with T.block("root"):
        for i0, i1, k in T.grid(T.int64(3), T.int64(5), T.int64(2)):
            with T.block("matmul"):
                v_i0, v_i1, v_k = T.axis.remap("SSR", [i0, i1, k])
                T.reads(A[v_i0, v_k], B[v_k, v_i1])
                T.writes(matmul[v_i0, v_i1])
                with T.init():
                    matmul[v_i0, v_i1] = 0
                matmul[v_i0, v_i1] = matmul[v_i0, v_i1] + T.dp4a_u8s8s32(A[v_i0, v_k], B[v_k, v_i1], 0)

    @T.prim_func(private=True)
    def matmul_of_words1(var_A: T.handle, B: T.Buffer((2, 5), "int32"), var_matmul: T.handle):
        T.func_attr({"op_pattern": 4})
        n0 = T.int64()
        A = T.match_buffer(var_A, (n0, 2, 2), "int32")
        matmul = T.match_buffer(var_matmul, (n0, 2, 5), "int32")
        # with T.block("root"):
        for i0, i1, i2, k in T.grid(n0, T.int64(2), T.int64(5), T.int64(2)):
            with T.block("matmul"):
                v_i0, v_i1, v_i2, v_k = T.axis.remap("SSSR", [i0, i1, i2, k])
                T.reads(A[v_i0, v_i1, v_k], B[v_k, v_i2])
                T.writes(matmul[v_i0, v_i1, v_i2])
                with T.init():
                    matmul[v_i0, v_i1, v_i2] = 0
                matmul[v_i0, v_i1, v_i2] = matmul[v_i0, v_i1, v_i2] + T.dp4a_u8s8s32(A[v_i0, v_i1, v_k], B[v_k, v_i2], 0)

    @T.prim_func(private=True)
    def packed(X: T.Buffer((3, 8), "uint8"), packed: T.Buffer((3, 2), "int32")):
        # with T.block("root"):
        for i0, i1 in T.grid(T.int64(3), T.int64(2)):
            with T.block("packed"):
                v_i0, v_i1 = T.axis.remap("SS", [i0, i1])
                T.reads(X[v_i0, v_i1:v_i1 + T.int64(7)])
                T.writes(packed[v_i0, v_i1])
                packed[v_i0, v_i1] = T.Cast("int32", X[v_i0, v_i1]) | T.Cast("int32", X[v_i0, v_i1 + T.int64(2)]) << 8 | T.Cast("int32", X[v_i0, v_i1 + T.int64(4)]) << 16 | T.Cast("int32", X[v_i0, v_i1 + T.int64(6)]) << 24

    @T.prim_func(private=True)
    def packed1(X: T.Buffer((8, 5), "int8"), packed: T.Buffer((2, 5), "int32")):
        # with T.block("root"):
        for i0, i1 in T.grid(T.int64(2), T.int64(5)):
            with T.block("packed"):
                v_i0, v_i1 = T.axis.remap("SS", [i0, i1])
                T.reads(X[v_i0:v_i0 + T.int64(7), v_i1])
                T.writes(packed[v_i0, v_i1])
                packed[v_i0, v_i1] = T.Cast("int32", T.Cast("uint8", X[v_i0, v_i1])) | T.Cast("int32", T.Cast("uint8", X[v_i0 + T.int64(2), v_i1])) << 8 | T.Cast("int32", T.Cast("uint8", X[v_i0 + T.int64(4), v_i1])) << 16 | T.Cast("int32", T.Cast("uint8", X[v_i0 + T.int64(6), v_i1])) << 24

    @T.prim_func(private=True)
    def packed2(var_X: T.handle, var_packed: T.handle):
        n0 = T.int64()
        X = T.match_buffer(var_X, (n0, 2, 7), "int8")
        packed = T.match_buffer(var_packed, (n0, 2, 2), "int32")
        # with T.block("root"):
        for i0, i1, i2 in T.grid(n0, T.int64(2), T.int64(2)):
            with T.block("packed"):
                v_i0, v_i1, v_i2 = T.axis.remap("SSS", [i0, i1, i2])
                T.reads(X[v_i0, v_i1, v_i2:v_i2 + T.int64(7)])
                T.writes(packed[v_i0, v_i1, v_i2])
                packed[v_i0, v_i1, v_i2] = T.if_then_else(v_i2 < T.int64(7), T.Cast("int32", T.Cast("uint8", X[v_i0, v_i1, v_i2])) ^ 128, 0) | T.if_then_else(v_i2 + T.int64(2) < T.int64(7), T.Cast("int32", T.Cast("uint8", X[v_i0, v_i1, v_i2 + T.int64(2)])) ^ 128, 0) << 8 | T.if_then_else(v_i2 + T.int64(4) < T.int64(7), T.Cast("int32", T.Cast("uint8", X[v_i0, v_i1, v_i2 + T.int64(4)])) ^ 128, 0) << 16 | T.if_then_else(v_i2 + T.int64(6) < T.int64(7), T.Cast("int32", T.Cast("uint8", X[v_i0, v_i1, v_i2 + T.int64(6)])) ^ 128, 0) << 24

    @T.prim_func(private=True)
    def packed3(X: T.Buffer((7, 5), "uint8"), packed: T.Buffer((2, 5), "int32")):
        # with T.block("root"):
        for i0, i1 in T.grid(T.int64(2), T.int64(5)):
            with T.block("packed"):
                v_i0, v_i1 = T.axis.remap("SS", [i0, i1])
                T.reads(X[v_i0:v_i0 + T.int64(7), v_i1])
                T.writes(packed[v_i0, v_i1])
                packed[v_i0, v_i1] = T.if_then_else(v_i0 < T.int64(7), T.Cast("int32", X[v_i0, v_i1]) ^ 128, 0) | T.if_then_else(v_i0 + T.int64(2) < T.int64(7), T.Cast("int32", X[v_i0 + T.int64(2), v_i1]) ^ 128, 0) << 8 | T.if_then_else(v_i0 + T.int64(4) < T.int64(7), T.Cast("int32", X[v_i0 + T.int64(4), v_i1]) ^ 128, 0) << 16 | T.if_then_else(v_i0 + T.int64(6) < T.int64(7), T.Cast("int32", X[v_i0 + T.int64(6), v_i1]) ^ 128, 0) << 24

    @T.prim_func(private=True)
    def packed4(X: T.Buffer((1, 6, 5, 5), "uint8"), Z: T.Buffer((), "int32"), packed: T.Buffer((1, 2, 7, 7), "int32")):
        # with T.block("root"):
        for i0, i1, i2, i3 in T.grid(T.int64(1), T.int64(2), T.int64(7), T.int64(7)):
            with T.block("packed"):
                v_i0, v_i1, v_i2, v_i3 = T.axis.remap("SSSS", [i0, i1, i2, i3])
                T.reads(X[v_i0, v_i1:v_i1 + T.int64(7), v_i2 - T.int64(1), v_i3 - T.int64(1)], Z[()])
                T.writes(packed[v_i0, v_i1, v_i2, v_i3])
                packed[v_i0, v_i1, v_i2, v_i3] = T.if_then_else(v_i2 - T.int64(1) >= T.int64(0) and v_i2 - T.int64(1) < T.int64(5) and v_i3 - T.int64(1) >= T.int64(0) and v_i3 - T.int64(1) < T.int64(5), T.if_then_else(v_i1 < T.int64(6), T.Cast("int32", X[v_i0, v_i1, v_i2 - T.int64(1), v_i3 - T.int64(1)]), 0) | T.if_then_else(v_i1 + T.int64(2) < T.int64(6), T.Cast("int32", X[v_i0, v_i1 + T.int64(2), v_i2 - T.int64(1), v_i3 - T.int64(1)]), 0) << 8 | T.if_then_else(v_i1 + T.int64(4) < T.int64(6), T.Cast("int32", X[v_i0, v_i1 + T.int64(4), v_i2 - T.int64(1), v_i3 - T.int64(1)]), 0) << 16 | T.if_then_else(v_i1 + T.int64(6) < T.int64(6), T.Cast("int32", X[v_i0, v_i1 + T.int64(6), v_i2 - T.int64(1), v_i3 - T.int64(1)]), 0) << 24, T.if_then_else(v_i1 < T.int64(6), Z[()] & 255, 0) | T.if_then_else(v_i1 + T.int64(2) < T.int64(6), Z[()] & 255, 0) << 8 | T.if_then_else(v_i1 + T.int64(4) < T.int64(6), Z[()] & 255, 0) << 16 | T.if_then_else(v_i1 + T.int64(6) < T.int64(6), Z[()] & 255, 0) << 24)

    @T.prim_func(private=True)
    def packed5(X: T.Buffer((3, 6, 3, 3), "int8"), packed: T.Buffer((3, 2, 3, 3), "int32")):
        # with T.block("root"):
        for i0, i1, i2, i3 in T.grid(T.int64(3), T.int64(2), T.int64(3), T.int64(3)):
            with T.block("packed"):
                v_i0, v_i1, v_i2, v_i3 = T.axis.remap("SSSS", [i0, i1, i2, i3])
                T.reads(X[v_i0, v_i1:v_i1 + T.int64(7), v_i2, v_i3])
                T.writes(packed[v_i0, v_i1, v_i2, v_i3])
                packed[v_i0, v_i1, v_i2, v_i3] = T.if_then_else(v_i1 < T.int64(6), T.Cast("int32", T.Cast("uint8", X[v_i0, v_i1, v_i2, v_i3])), 0) | T.if_then_else(v_i1 + T.int64(2) < T.int64(6), T.Cast("int32", T.Cast("uint8", X[v_i0, v_i1 + T.int64(2), v_i2, v_i3])), 0) << 8 | T.if_then_else(v_i1 + T.int64(4) < T.int64(6), T.Cast("int32", T.Cast("uint8", X[v_i0, v_i1 + T.int64(4), v_i2, v_i3])), 0) << 16 | T.if_then_else(v_i1 + T.int64(6) < T.int64(6), T.Cast("int32", T.Cast("uint8", X[v_i0, v_i1 + T.int64(6), v_i2, v_i3])), 0) << 24

    @T.prim_func(private=True)
    def packed6(X: T.Buffer((1, 4, 3, 3), "int8"), packed: T.Buffer((1, 1, 3, 3), "int32")):
        # with T.block("root"):
        for i0, i1, i2, i3 in T.grid(T.int64(1), T.int64(1), T.int64(3), T.int64(3)):
            with T.block("packed"):
                v_i0, v_i1, v_i2, v_i3 = T.axis.remap("SSSS", [i0, i1, i2, i3])
                T.reads(X[v_i0, v_i1:v_i1 + T.int64(4), v_i2, v_i3])
                T.writes(packed[v_i0, v_i1, v_i2, v_i3])
                packed[v_i0, v_i1, v_i2, v_i3] = T.Cast("int32", T.Cast("uint8", X[v_i0, v_i1, v_i2, v_i3])) ^ 128 | (T.Cast("int32", T.Cast("uint8", X[v_i0, v_i1 + T.int64(1), v_i2, v_i3])) ^ 128) << 8 | (T.Cast("int32", T.Cast("uint8", X[v_i0, v_i1 + T.int64(2), v_i2, v_i3])) ^ 128) << 16 | (T.Cast("int32", T.Cast("uint8", X[v_i0, v_i1 + T.int64(3), v_i2, v_i3])) ^ 128) << 24

    @T.prim_func(private=True)
    def packed7(X: T.Buffer((2, 4, 2, 2), "uint8"), packed: T.Buffer((2, 1, 2, 2), "int32")):
        # with T.block("root"):
        for i0, i1, i2, i3 in T.grid(T.int64(2), T.int64(1), T.int64(2), T.int64(2)):
            with T.block("packed"):
                v_i0, v_i1, v_i2, v_i3 = T.axis.remap("SSSS", [i0, i1, i2, i3])
                T.reads(X[v_i0, v_i1:v_i1 + T.int64(4), v_i2, v_i3])
                T.writes(packed[v_i0, v_i1, v_i2, v_i3])
                packed[v_i0, v_i1, v_i2, v_i3] = T.Cast("int32", X[v_i0, v_i1, v_i2, v_i3]) ^ 128 | (T.Cast("int32", X[v_i0, v_i1 + T.int64(1), v_i2, v_i3]) ^ 128) << 8 | (T.Cast("int32", X[v_i0, v_i1 + T.int64(2), v_i2, v_i3]) ^ 128) << 16 | (T.Cast("int32", X[v_i0, v_i1 + T.int64(3), v_i2, v_i3]) ^ 128) << 24

    @T.prim_func(private=True)
    def window_sums(A: T.Buffer((1, 1, 3, 3), "int32"), sums: T.Buffer((1, 1, 2, 2), "int32")):
        # with T.block("root"):
        for i0, i1, i2, i3, rc, ry, rx in T.grid(T.int64(1), T.int64(1), T.int64(2), T.int64(2), T.int64(1), T.int64(2), T.int64(2)):
            with T.block("sums"):
                v_i0, v_i1, v_i2, v_i3, v_rc, v_ry, v_rx = T.axis.remap("SSSSRRR", [i0, i1, i2, i3, rc, ry, rx])
                T.reads(A[v_i0, v_rc, v_ry + v_i2, v_rx + v_i3])
                T.writes(sums[v_i0, v_i1, v_i2, v_i3])
                with T.init():
                    sums[v_i0, v_i1, v_i2, v_i3] = 0
                sums[v_i0, v_i1, v_i2, v_i3] = sums[v_i0, v_i1, v_i2, v_i3] + T.dp4a_u8s8s32(A[v_i0, v_rc, v_ry + v_i2, v_rx + v_i3], 16843009, 0)

    @R.function
    def checked(x: R.Tensor((8, 8), dtype="uint8"), w: R.Tensor((8, 8), dtype="int8"), z: R.Tensor((8,), dtype="uint8"), t: R.Tensor((), dtype="int32"), o: R.Tensor(("n", "k"), dtype="uint8"), i: R.Tensor((1, "c", 5, 5), dtype="uint8"), f: R.Tensor((2, 4, 3, 3), dtype="int8")) -> R.Tuple(R.Tensor((8, 8), dtype="int32"), R.Tensor((8, 8), dtype="int32"), R.Tensor(("n", 8), dtype="int32"), R.Tensor((1, 2, 3, 3), dtype="int32")):
        c = T.int64()
        k = T.int64()
        n = T.int64()
        with R.dataflow():
            b: R.Tensor((8, 8), dtype="int32") = R.astype(w, dtype=R.dtype("int32"))
            lv: R.Tensor((8, 8), dtype="int32") = R.astype(x, dtype=R.dtype("int32"))
            lv_1: R.Tensor((8,), dtype="int32") = R.astype(z, dtype=R.dtype("int32"))
            lv_2: R.Tensor((8, 8), dtype="int32") = R.subtract(lv, lv_1)
            p: R.Tensor((8, 8), dtype="int32") = R.matmul(lv_2, b)
            lv_3: R.Tensor((8, 8), dtype="int32") = R.astype(x, dtype=R.dtype("int32"))
            lv_4: R.Tensor((8, 8), dtype="int32") = R.subtract(lv_3, t)
            q: R.Tensor((8, 8), dtype="int32") = R.matmul(lv_4, b)
            lv_5: R.Tensor((n, k), dtype="int32") = R.astype(o, dtype=R.dtype("int32"))
            r: R.Tensor((n, 8), dtype="int32") = R.matmul(lv_5, b)
            lv_6: R.Tensor((1, c, 5, 5), dtype="int32") = R.astype(i, dtype=R.dtype("int32"))
            lv_7: R.Tensor((2, 4, 3, 3), dtype="int32") = R.astype(f, dtype=R.dtype("int32"))
            s: R.Tensor((1, 2, 3, 3), dtype="int32") = R.nn.conv2d(lv_6, lv_7, strides=[1, 1], padding=[0, 0, 0, 0], dilation=[1, 1], groups=1, data_layout="NCHW", kernel_layout="OIHW", out_layout="NCHW")
            R.output(p, q, r, s)
        return (p, q, r, s)

    @R.function
    def filters(x: R.Tensor((1, 4, 3, 3), dtype="int8"), w: R.Tensor((2, 4, 2, 2), dtype="uint8"), zw: R.Tensor((2, 1, 1, 1), dtype="uint8")) -> R.Tensor((1, 2, 2, 2), dtype="int32"):
        cls = Module
        with R.dataflow():
            lv: R.Tensor((2, 4, 2, 2), dtype="int32") = R.astype(w, dtype=R.dtype("int32"))
            lv_1: R.Tensor((2, 1, 1, 1), dtype="int32") = R.astype(zw, dtype=R.dtype("int32"))
            b: R.Tensor((2, 4, 2, 2), dtype="int32") = R.subtract(lv, lv_1)
            lv_2: R.Tensor((1, 4, 3, 3), dtype="int32") = R.astype(x, dtype=R.dtype("int32"))
            lv_3: R.Tensor((2, 1, 1, 1), dtype="int32") = R.add(lv_1, R.const(-128, "int32"))
            packed = R.call_tir(cls.packed6, (x,), out_sinfo=R.Tensor((1, 1, 3, 3), dtype="int32"))
            packed_1 = R.call_tir(cls.packed7, (w,), out_sinfo=R.Tensor((2, 1, 2, 2), dtype="int32"))
            convolution_of_words = R.call_tir(cls.convolution_of_words1, (packed, packed_1), out_sinfo=R.Tensor((1, 2, 2, 2), dtype="int32"))
            lv_4: R.Tensor((2,), dtype="int32") = R.sum(b, axis=[1, 2, 3], keepdims=False)
            lv_5: R.Tensor((2, 1, 1), dtype="int32") = R.reshape(lv_4, R.shape([2, 1, 1]))
            lv_6: R.Tensor((2, 1, 1), dtype="int32") = R.multiply(R.const(128, "int32"), lv_5)
            lv_7: R.Tensor((1, 2, 2, 2), dtype="int32") = R.subtract(convolution_of_words, lv_6)
            window_sums = R.call_tir(cls.window_sums, (packed,), out_sinfo=R.Tensor((1, 1, 2, 2), dtype="int32"))
            lv_8: R.Tensor((2, 1, 1), dtype="int32") = R.reshape(lv_3, R.shape([2, 1, 1]))
            lv_9: R.Tensor((1, 2, 2, 2), dtype="int32") = R.multiply(lv_8, window_sums)
            lv_10: R.Tensor((1, 2, 2, 2), dtype="int32") = R.subtract(lv_7, lv_9)
            R.output(lv_10)
        return lv_10

    @R.function
    def kept(x: R.Tensor((2, 3, 8), dtype="uint8"), w: R.Tensor((2, 8, 5), dtype="int8"), i: R.Tensor((1, 4, 3, 3), dtype="uint8"), k: R.Tensor((2, 2, 3, 3), dtype="uint8")) -> R.Tuple(R.Tensor((2, 3, 5), dtype="int32"), R.Tensor((1, 2, 1, 1), dtype="int32")):
        with R.dataflow():
            lv: R.Tensor((2, 3, 8), dtype="int32") = R.astype(x, dtype=R.dtype("int32"))
            lv_1: R.Tensor((2, 8, 5), dtype="int32") = R.astype(w, dtype=R.dtype("int32"))
            y: R.Tensor((2, 3, 5), dtype="int32") = R.matmul(lv, lv_1)
            lv_2: R.Tensor((1, 4, 3, 3), dtype="int32") = R.astype(i, dtype=R.dtype("int32"))
            lv_3: R.Tensor((2, 2, 3, 3), dtype="int32") = R.astype(k, dtype=R.dtype("int32"))
            z: R.Tensor((1, 2, 1, 1), dtype="int32") = R.nn.conv2d(lv_2, lv_3, strides=[1, 1], padding=[0, 0, 0, 0], dilation=[1, 1], groups=2, data_layout="NCHW", kernel_layout="OIHW", out_layout="NCHW")
            R.output(y, z)
        return (y, z)

    @R.function
    def moved(x: R.Tensor(("n", 2, 7), dtype="int8"), w: R.Tensor((7, 5), dtype="uint8"), zx: R.Tensor((2, 1), dtype="int8"), zw: R.Tensor((5,), dtype="uint8")) -> R.Tensor(("n", 2, 5), dtype="int32"):
        n = T.int64()
        cls = Module
        with R.dataflow():
            lv: R.Tensor((n, 2, 7), dtype="int32") = R.astype(x, dtype=R.dtype("int32"))
            lv_1: R.Tensor((2, 1), dtype="int32") = R.astype(zx, dtype=R.dtype("int32"))
            a: R.Tensor((n, 2, 7), dtype="int32") = R.subtract(lv, lv_1)
            lv_2: R.Tensor((7, 5), dtype="int32") = R.astype(w, dtype=R.dtype("int32"))
            lv_3: R.Tensor((5,), dtype="int32") = R.astype(zw, dtype=R.dtype("int32"))
            b: R.Tensor((7, 5), dtype="int32") = R.subtract(lv_2, lv_3)
            lv_4: R.Tensor((2, 1), dtype="int32") = R.add(lv_1, R.const(128, "int32"))
            lv_5: R.Tensor((5,), dtype="int32") = R.add(lv_3, R.const(-128, "int32"))
            packed = R.call_tir(cls.packed2, (x,), out_sinfo=R.Tensor((n, 2, 2), dtype="int32"))
            packed_1 = R.call_tir(cls.packed3, (w,), out_sinfo=R.Tensor((2, 5), dtype="int32"))
            matmul_of_words = R.call_tir(cls.matmul_of_words1, (packed, packed_1), out_sinfo=R.Tensor((n, 2, 5), dtype="int32"))
            lv_6: R.Tensor((5,), dtype="int32") = R.sum(b, axis=[0], keepdims=False)
            lv_7: R.Tensor((2, 5), dtype="int32") = R.multiply(lv_4, lv_6)
            lv_8: R.Tensor((n, 2, 5), dtype="int32") = R.subtract(matmul_of_words, lv_7)
            lv_9: R.Tensor((n, 2, 7), dtype="int32") = lv
            lv_10: R.Tensor((n, 2, 1), dtype="int32") = R.sum(lv, axis=[2], keepdims=True)
            lv_11: R.Tensor((n, 2, 1), dtype="int32") = R.add(lv_10, R.const(896, "int32"))
            lv_12: R.Tensor((n, 2, 5), dtype="int32") = R.multiply(lv_5, lv_11)
            lv_13: R.Tensor((n, 2, 5), dtype="int32") = R.subtract(lv_8, lv_12)
            R.output(lv_13)
        return lv_13

    @R.function
    def plain(x: R.Tensor((3, 8), dtype="uint8"), w: R.Tensor((8, 5), dtype="int8")) -> R.Tensor((3, 5), dtype="int32"):
        cls = Module
        with R.dataflow():
            a: R.Tensor((3, 8), dtype="int32") = R.astype(x, dtype=R.dtype("int32"))
            b: R.Tensor((8, 5), dtype="int32") = R.astype(w, dtype=R.dtype("int32"))
            packed = R.call_tir(cls.packed, (x,), out_sinfo=R.Tensor((3, 2), dtype="int32"))
            packed_1 = R.call_tir(cls.packed1, (w,), out_sinfo=R.Tensor((2, 5), dtype="int32"))
            matmul_of_words = R.call_tir(cls.matmul_of_words, (packed, packed_1), out_sinfo=R.Tensor((3, 5), dtype="int32"))
            R.output(matmul_of_words)
        return matmul_of_words

    @R.function
    def windows(x: R.Tensor((1, 6, 5, 5), dtype="uint8"), w: R.Tensor((3, 6, 3, 3), dtype="int8"), zx: R.Tensor((), dtype="uint8")) -> R.Tensor((1, 3, 3, 3), dtype="int32"):
        cls = Module
        with R.dataflow():
            lv: R.Tensor((1, 6, 5, 5), dtype="int32") = R.astype(x, dtype=R.dtype("int32"))
            lv_1: R.Tensor((), dtype="int32") = R.astype(zx, dtype=R.dtype("int32"))
            a: R.Tensor((1, 6, 5, 5), dtype="int32") = R.subtract(lv, lv_1)
            b: R.Tensor((3, 6, 3, 3), dtype="int32") = R.astype(w, dtype=R.dtype("int32"))
            packed = R.call_tir(cls.packed4, (x, lv_1), out_sinfo=R.Tensor((1, 2, 7, 7), dtype="int32"))
            packed_1 = R.call_tir(cls.packed5, (w,), out_sinfo=R.Tensor((3, 2, 3, 3), dtype="int32"))
            convolution_of_words = R.call_tir(cls.convolution_of_words, (packed, packed_1), out_sinfo=R.Tensor((1, 3, 3, 3), dtype="int32"))
            lv_2: R.Tensor((3,), dtype="int32") = R.sum(b, axis=[1, 2, 3], keepdims=False)
            lv_3: R.Tensor((3, 1, 1), dtype="int32") = R.reshape(lv_2, R.shape([3, 1, 1]))
            lv_4: R.Tensor((3, 1, 1), dtype="int32") = R.multiply(lv_1, lv_3)
            lv_5: R.Tensor((1, 3, 3, 3), dtype="int32") = R.subtract(convolution_of_words, lv_4)
            R.output(lv_5)
        return lv_5
