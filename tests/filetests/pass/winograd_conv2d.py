# test: pass
# target: cpu
# run: legalize_ops
# run: winograd_conv2d {"parameters": true, "always": true}
# A convolution by a weight becomes products of transformed tiles; one by something that is computed stays.

@I.ir_module
class Module:
    @R.function
    def main(x: R.Tensor(("n", 2, 5, 6), "float32"), v: R.Tensor((2, 2, 3, 3), "float32"), w: R.Tensor((2, 2, 3, 3), "float32")):
        R.func_attr({"num_input": 2})
        with R.dataflow():
            y = R.nn.conv2d(x, w, padding=[1, 1, 1, 1])
            z = R.nn.conv2d(y, v)
            R.output(z)
        return z
# expect:
# from tvm.script import ir as I
# from tvm.script import tir as T
# from tvm.script import relax as R

@I.ir_module
class Module:
    @T.prim_func(private=True)
    def channels_last(var_X: T.handle, var_turned: T.handle):
        n = T.int64()
        X = T.match_buffer(var_X, (n, 2, 5, 6))
        turned = T.match_buffer(var_turned, (n, 5, 6, 2))
        # with T.block("root"):
        for i0, i1, i2, i3 in T.grid(n, T.int64(5), T.int64(6), T.int64(2)):
            with T.block("turned"):
                v_i0, v_i1, v_i2, v_i3 = T.axis.remap("SSSS", [i0, i1, i2, i3])
                T.reads(X[v_i0, v_i3, v_i1, v_i2])
                T.writes(turned[v_i0, v_i1, v_i2, v_i3])
                turned[v_i0, v_i1, v_i2, v_i3] = X[v_i0, v_i3, v_i1, v_i2]

    @T.prim_func(private=True)
    def channels_placed(var_Z: T.handle, var_conv2d: T.handle):
        n = T.int64()
        Z = T.match_buffer(var_Z, (n, 8, 8, 2))
        conv2d = T.match_buffer(var_conv2d, (n, 2, 5, 6))
        # with T.block("root"):
        for i0, i1, i2, i3 in T.grid(n, T.int64(2), T.int64(5), T.int64(6)):
            with T.block("conv2d"):
                v_i0, v_i1, v_i2, v_i3 = T.axis.remap("SSSS", [i0, i1, i2, i3])
                T.reads(Z[v_i0, v_i2, v_i3, v_i1])
                T.writes(conv2d[v_i0, v_i1, v_i2, v_i3])
                conv2d[v_i0, v_i1, v_i2, v_i3] = Z[v_i0, v_i2, v_i3, v_i1]

    @T.prim_func(private=True)
    def conv2d(var_data: T.handle, weight: T.Buffer((2, 2, 3, 3), "float32"), var_conv2d: T.handle):
        n = T.int64()
        data = T.match_buffer(var_data, (n, 2, 5, 6))
        conv2d = T.match_buffer(var_conv2d, (n, 2, 5, 6))
        # with T.block("root"):
        pad_temp = T.alloc_buffer((n, 2, 7, 8))
        for i0, i1, i2, i3 in T.grid(n, T.int64(2), T.int64(7), T.int64(8)):
            with T.block("pad_temp"):
                v_i0, v_i1, v_i2, v_i3 = T.axis.remap("SSSS", [i0, i1, i2, i3])
                T.reads(data[v_i0, v_i1, v_i2 - T.int64(1), v_i3 - T.int64(1)])
                T.writes(pad_temp[v_i0, v_i1, v_i2, v_i3])
                pad_temp[v_i0, v_i1, v_i2, v_i3] = T.if_then_else(v_i2 >= T.int64(1) and v_i2 < T.int64(6) and v_i3 >= T.int64(1) and v_i3 < T.int64(7), data[v_i0, v_i1, v_i2 - T.int64(1), v_i3 - T.int64(1)], T.float32(0))
        for i0, i1, i2, i3, rc, ry, rx in T.grid(n, T.int64(2), T.int64(5), T.int64(6), T.int64(2), T.int64(3), T.int64(3)):
            with T.block("conv2d"):
                v_i0, v_i1, v_i2, v_i3, v_rc, v_ry, v_rx = T.axis.remap("SSSSRRR", [i0, i1, i2, i3, rc, ry, rx])
                T.reads(pad_temp[v_i0, v_rc, v_i2 + v_ry, v_i3 + v_rx], weight[v_i1, v_rc, v_ry, v_rx])
                T.writes(conv2d[v_i0, v_i1, v_i2, v_i3])
                with T.init():
                    conv2d[v_i0, v_i1, v_i2, v_i3] = T.float32(0)
                conv2d[v_i0, v_i1, v_i2, v_i3] = conv2d[v_i0, v_i1, v_i2, v_i3] + pad_temp[v_i0, v_rc, v_i2 + v_ry, v_i3 + v_rx] * weight[v_i1, v_rc, v_ry, v_rx]

    @T.prim_func(private=True)
    def conv2d1(var_data: T.handle, weight: T.Buffer((2, 2, 3, 3), "float32"), var_conv2d: T.handle):
        n = T.int64()
        data = T.match_buffer(var_data, (n, 2, 5, 6))
        conv2d = T.match_buffer(var_conv2d, (n, 2, 3, 4))
        # with T.block("root"):
        for i0, i1, i2, i3, rc, ry, rx in T.grid(n, T.int64(2), T.int64(3), T.int64(4), T.int64(2), T.int64(3), T.int64(3)):
            with T.block("conv2d"):
                v_i0, v_i1, v_i2, v_i3, v_rc, v_ry, v_rx = T.axis.remap("SSSSRRR", [i0, i1, i2, i3, rc, ry, rx])
                T.reads(data[v_i0, v_rc, v_i2 + v_ry, v_i3 + v_rx], weight[v_i1, v_rc, v_ry, v_rx])
                T.writes(conv2d[v_i0, v_i1, v_i2, v_i3])
                with T.init():
                    conv2d[v_i0, v_i1, v_i2, v_i3] = T.float32(0)
                conv2d[v_i0, v_i1, v_i2, v_i3] = conv2d[v_i0, v_i1, v_i2, v_i3] + data[v_i0, v_rc, v_i2 + v_ry, v_i3 + v_rx] * weight[v_i1, v_rc, v_ry, v_rx]

    @T.prim_func(private=True)
    def winograd_conv2d(var_X: T.handle, U: T.Buffer((6, 6, 2, 2), "float32"), var_Z: T.handle):
        T.func_attr({"op_pattern": 8})
        n = T.int64()
        X = T.match_buffer(var_X, (n, 5, 6, 2))
        Z = T.match_buffer(var_Z, (n, 8, 8, 2))
        # with T.block("root"):
        padded = T.alloc_buffer((n, 10, 10, 2))
        rows = T.alloc_buffer((n, 2, 10, 6, 2))
        V = T.alloc_buffer((6, 6, n, 2, 2, 2))
        M = T.alloc_buffer((6, 6, n, 2, 2, 2))
        columns = T.alloc_buffer((n, 8, 2, 6, 2))
        for i0, i1, i2, i3 in T.grid(n, T.int64(10), T.int64(10), T.int64(2)):
            with T.block("padded"):
                v_i0, v_i1, v_i2, v_i3 = T.axis.remap("SSSS", [i0, i1, i2, i3])
                T.reads(X[v_i0, v_i1 - T.int64(1), v_i2 - T.int64(1), v_i3])
                T.writes(padded[v_i0, v_i1, v_i2, v_i3])
                padded[v_i0, v_i1, v_i2, v_i3] = T.if_then_else(v_i1 >= T.int64(1) and v_i1 < T.int64(6) and v_i2 >= T.int64(1) and v_i2 < T.int64(7), X[v_i0, v_i1 - T.int64(1), v_i2 - T.int64(1), v_i3], T.float32(0))
        for i0, i1, i2, i3, i4 in T.grid(n, T.int64(2), T.int64(10), T.int64(6), T.int64(2)):
            with T.block("rows"):
                v_i0, v_i1, v_i2, v_i3, v_i4 = T.axis.remap("SSSSS", [i0, i1, i2, i3, i4])
                T.reads(padded[v_i0, v_i1 * T.int64(4):v_i1 * T.int64(4) + T.int64(6), v_i2, v_i4])
                T.writes(rows[v_i0, v_i1, v_i2, v_i3, v_i4])
                rows[v_i0, v_i1, v_i2, v_i3, v_i4] = T.if_then_else(v_i3 == T.int64(0), padded[v_i0, v_i1 * T.int64(4) + T.int64(0), v_i2, v_i4] + padded[v_i0, v_i1 * T.int64(4) + T.int64(1), v_i2, v_i4] * T.float32(-1.5) + padded[v_i0, v_i1 * T.int64(4) + T.int64(2), v_i2, v_i4] * T.float32(-2) + padded[v_i0, v_i1 * T.int64(4) + T.int64(3), v_i2, v_i4] * T.float32(1.5) + padded[v_i0, v_i1 * T.int64(4) + T.int64(4), v_i2, v_i4], T.if_then_else(v_i3 == T.int64(1), padded[v_i0, v_i1 * T.int64(4) + T.int64(1), v_i2, v_i4] * T.float32(-1) + padded[v_i0, v_i1 * T.int64(4) + T.int64(2), v_i2, v_i4] * T.float32(0.5) + padded[v_i0, v_i1 * T.int64(4) + T.int64(3), v_i2, v_i4] * T.float32(2.5) + padded[v_i0, v_i1 * T.int64(4) + T.int64(4), v_i2, v_i4], T.if_then_else(v_i3 == T.int64(2), padded[v_i0, v_i1 * T.int64(4) + T.int64(1), v_i2, v_i4] + padded[v_i0, v_i1 * T.int64(4) + T.int64(2), v_i2, v_i4] * T.float32(-2.5) + padded[v_i0, v_i1 * T.int64(4) + T.int64(3), v_i2, v_i4] * T.float32(0.5) + padded[v_i0, v_i1 * T.int64(4) + T.int64(4), v_i2, v_i4], T.if_then_else(v_i3 == T.int64(3), padded[v_i0, v_i1 * T.int64(4) + T.int64(1), v_i2, v_i4] * T.float32(-2) - padded[v_i0, v_i1 * T.int64(4) + T.int64(2), v_i2, v_i4] + padded[v_i0, v_i1 * T.int64(4) + T.int64(3), v_i2, v_i4] * T.float32(2) + padded[v_i0, v_i1 * T.int64(4) + T.int64(4), v_i2, v_i4], T.if_then_else(v_i3 == T.int64(4), padded[v_i0, v_i1 * T.int64(4) + T.int64(1), v_i2, v_i4] * T.float32(0.5) - padded[v_i0, v_i1 * T.int64(4) + T.int64(2), v_i2, v_i4] + padded[v_i0, v_i1 * T.int64(4) + T.int64(3), v_i2, v_i4] * T.float32(-0.5) + padded[v_i0, v_i1 * T.int64(4) + T.int64(4), v_i2, v_i4], padded[v_i0, v_i1 * T.int64(4) + T.int64(1), v_i2, v_i4] + padded[v_i0, v_i1 * T.int64(4) + T.int64(2), v_i2, v_i4] * T.float32(-1.5) + padded[v_i0, v_i1 * T.int64(4) + T.int64(3), v_i2, v_i4] * T.float32(-2) + padded[v_i0, v_i1 * T.int64(4) + T.int64(4), v_i2, v_i4] * T.float32(1.5) + padded[v_i0, v_i1 * T.int64(4) + T.int64(5), v_i2, v_i4])))))
        for i0, i1, i2, i3, i4, i5 in T.grid(T.int64(6), T.int64(6), n, T.int64(2), T.int64(2), T.int64(2)):
            with T.block("V"):
                v_i0, v_i1, v_i2, v_i3, v_i4, v_i5 = T.axis.remap("SSSSSS", [i0, i1, i2, i3, i4, i5])
                T.reads(rows[v_i2, v_i3, v_i4 * T.int64(4):v_i4 * T.int64(4) + T.int64(6), v_i0, v_i5])
                T.writes(V[v_i0, v_i1, v_i2, v_i3, v_i4, v_i5])
                V[v_i0, v_i1, v_i2, v_i3, v_i4, v_i5] = T.if_then_else(v_i1 == T.int64(0), rows[v_i2, v_i3, v_i4 * T.int64(4) + T.int64(0), v_i0, v_i5] + rows[v_i2, v_i3, v_i4 * T.int64(4) + T.int64(1), v_i0, v_i5] * T.float32(-1.5) + rows[v_i2, v_i3, v_i4 * T.int64(4) + T.int64(2), v_i0, v_i5] * T.float32(-2) + rows[v_i2, v_i3, v_i4 * T.int64(4) + T.int64(3), v_i0, v_i5] * T.float32(1.5) + rows[v_i2, v_i3, v_i4 * T.int64(4) + T.int64(4), v_i0, v_i5], T.if_then_else(v_i1 == T.int64(1), rows[v_i2, v_i3, v_i4 * T.int64(4) + T.int64(1), v_i0, v_i5] * T.float32(-1) + rows[v_i2, v_i3, v_i4 * T.int64(4) + T.int64(2), v_i0, v_i5] * T.float32(0.5) + rows[v_i2, v_i3, v_i4 * T.int64(4) + T.int64(3), v_i0, v_i5] * T.float32(2.5) + rows[v_i2, v_i3, v_i4 * T.int64(4) + T.int64(4), v_i0, v_i5], T.if_then_else(v_i1 == T.int64(2), rows[v_i2, v_i3, v_i4 * T.int64(4) + T.int64(1), v_i0, v_i5] + rows[v_i2, v_i3, v_i4 * T.int64(4) + T.int64(2), v_i0, v_i5] * T.float32(-2.5) + rows[v_i2, v_i3, v_i4 * T.int64(4) + T.int64(3), v_i0, v_i5] * T.float32(0.5) + rows[v_i2, v_i3, v_i4 * T.int64(4) + T.int64(4), v_i0, v_i5], T.if_then_else(v_i1 == T.int64(3), rows[v_i2, v_i3, v_i4 * T.int64(4) + T.int64(1), v_i0, v_i5] * T.float32(-2) - rows[v_i2, v_i3, v_i4 * T.int64(4) + T.int64(2), v_i0, v_i5] + rows[v_i2, v_i3, v_i4 * T.int64(4) + T.int64(3), v_i0, v_i5] * T.float32(2) + rows[v_i2, v_i3, v_i4 * T.int64(4) + T.int64(4), v_i0, v_i5], T.if_then_else(v_i1 == T.int64(4), rows[v_i2, v_i3, v_i4 * T.int64(4) + T.int64(1), v_i0, v_i5] * T.float32(0.5) - rows[v_i2, v_i3, v_i4 * T.int64(4) + T.int64(2), v_i0, v_i5] + rows[v_i2, v_i3, v_i4 * T.int64(4) + T.int64(3), v_i0, v_i5] * T.float32(-0.5) + rows[v_i2, v_i3, v_i4 * T.int64(4) + T.int64(4), v_i0, v_i5], rows[v_i2, v_i3, v_i4 * T.int64(4) + T.int64(1), v_i0, v_i5] + rows[v_i2, v_i3, v_i4 * T.int64(4) + T.int64(2), v_i0, v_i5] * T.float32(-1.5) + rows[v_i2, v_i3, v_i4 * T.int64(4) + T.int64(3), v_i0, v_i5] * T.float32(-2) + rows[v_i2, v_i3, v_i4 * T.int64(4) + T.int64(4), v_i0, v_i5] * T.float32(1.5) + rows[v_i2, v_i3, v_i4 * T.int64(4) + T.int64(5), v_i0, v_i5])))))
        for i0, i1, i2, i3, i4, i5, k in T.grid(T.int64(6), T.int64(6), n, T.int64(2), T.int64(2), T.int64(2), T.int64(2)):
            with T.block("M"):
                v_i0, v_i1, v_i2, v_i3, v_i4, v_i5, v_k = T.axis.remap("SSSSSSR", [i0, i1, i2, i3, i4, i5, k])
                T.reads(V[v_i0, v_i1, v_i2, v_i3, v_i4, v_k], U[v_i0, v_i1, v_k, v_i5])
                T.writes(M[v_i0, v_i1, v_i2, v_i3, v_i4, v_i5])
                with T.init():
                    M[v_i0, v_i1, v_i2, v_i3, v_i4, v_i5] = T.float32(0)
                M[v_i0, v_i1, v_i2, v_i3, v_i4, v_i5] = M[v_i0, v_i1, v_i2, v_i3, v_i4, v_i5] + V[v_i0, v_i1, v_i2, v_i3, v_i4, v_k] * U[v_i0, v_i1, v_k, v_i5]
        for i0, i1, i2, i3, i4 in T.grid(n, T.int64(8), T.int64(2), T.int64(6), T.int64(2)):
            with T.block("columns"):
                v_i0, v_i1, v_i2, v_i3, v_i4 = T.axis.remap("SSSSS", [i0, i1, i2, i3, i4])
                T.reads(M[T.int64(0):T.int64(6), v_i3, v_i0, v_i1 // T.int64(4), v_i2, v_i4])
                T.writes(columns[v_i0, v_i1, v_i2, v_i3, v_i4])
                columns[v_i0, v_i1, v_i2, v_i3, v_i4] = T.if_then_else(v_i1 % T.int64(4) == T.int64(0), M[T.int64(0), v_i3, v_i0, v_i1 // T.int64(4), v_i2, v_i4] + M[T.int64(1), v_i3, v_i0, v_i1 // T.int64(4), v_i2, v_i4] + M[T.int64(2), v_i3, v_i0, v_i1 // T.int64(4), v_i2, v_i4] + M[T.int64(3), v_i3, v_i0, v_i1 // T.int64(4), v_i2, v_i4] + M[T.int64(4), v_i3, v_i0, v_i1 // T.int64(4), v_i2, v_i4], T.if_then_else(v_i1 % T.int64(4) == T.int64(1), M[T.int64(1), v_i3, v_i0, v_i1 // T.int64(4), v_i2, v_i4] - M[T.int64(2), v_i3, v_i0, v_i1 // T.int64(4), v_i2, v_i4] + M[T.int64(3), v_i3, v_i0, v_i1 // T.int64(4), v_i2, v_i4] * T.float32(0.5) + M[T.int64(4), v_i3, v_i0, v_i1 // T.int64(4), v_i2, v_i4] * T.float32(-2), T.if_then_else(v_i1 % T.int64(4) == T.int64(2), M[T.int64(1), v_i3, v_i0, v_i1 // T.int64(4), v_i2, v_i4] + M[T.int64(2), v_i3, v_i0, v_i1 // T.int64(4), v_i2, v_i4] + M[T.int64(3), v_i3, v_i0, v_i1 // T.int64(4), v_i2, v_i4] * T.float32(0.25) + M[T.int64(4), v_i3, v_i0, v_i1 // T.int64(4), v_i2, v_i4] * T.float32(4), M[T.int64(1), v_i3, v_i0, v_i1 // T.int64(4), v_i2, v_i4] - M[T.int64(2), v_i3, v_i0, v_i1 // T.int64(4), v_i2, v_i4] + M[T.int64(3), v_i3, v_i0, v_i1 // T.int64(4), v_i2, v_i4] * T.float32(0.125) + M[T.int64(4), v_i3, v_i0, v_i1 // T.int64(4), v_i2, v_i4] * T.float32(-8) + M[T.int64(5), v_i3, v_i0, v_i1 // T.int64(4), v_i2, v_i4])))
        for i0, i1, i2, i3 in T.grid(n, T.int64(8), T.int64(8), T.int64(2)):
            with T.block("Z"):
                v_i0, v_i1, v_i2, v_i3 = T.axis.remap("SSSS", [i0, i1, i2, i3])
                T.reads(columns[v_i0, v_i1, v_i2 // T.int64(4), T.int64(0):T.int64(6), v_i3])
                T.writes(Z[v_i0, v_i1, v_i2, v_i3])
                Z[v_i0, v_i1, v_i2, v_i3] = T.if_then_else(v_i2 % T.int64(4) == T.int64(0), columns[v_i0, v_i1, v_i2 // T.int64(4), T.int64(0), v_i3] + columns[v_i0, v_i1, v_i2 // T.int64(4), T.int64(1), v_i3] + columns[v_i0, v_i1, v_i2 // T.int64(4), T.int64(2), v_i3] + columns[v_i0, v_i1, v_i2 // T.int64(4), T.int64(3), v_i3] + columns[v_i0, v_i1, v_i2 // T.int64(4), T.int64(4), v_i3], T.if_then_else(v_i2 % T.int64(4) == T.int64(1), columns[v_i0, v_i1, v_i2 // T.int64(4), T.int64(1), v_i3] - columns[v_i0, v_i1, v_i2 // T.int64(4), T.int64(2), v_i3] + columns[v_i0, v_i1, v_i2 // T.int64(4), T.int64(3), v_i3] * T.float32(0.5) + columns[v_i0, v_i1, v_i2 // T.int64(4), T.int64(4), v_i3] * T.float32(-2), T.if_then_else(v_i2 % T.int64(4) == T.int64(2), columns[v_i0, v_i1, v_i2 // T.int64(4), T.int64(1), v_i3] + columns[v_i0, v_i1, v_i2 // T.int64(4), T.int64(2), v_i3] + columns[v_i0, v_i1, v_i2 // T.int64(4), T.int64(3), v_i3] * T.float32(0.25) + columns[v_i0, v_i1, v_i2 // T.int64(4), T.int64(4), v_i3] * T.float32(4), columns[v_i0, v_i1, v_i2 // T.int64(4), T.int64(1), v_i3] - columns[v_i0, v_i1, v_i2 // T.int64(4), T.int64(2), v_i3] + columns[v_i0, v_i1, v_i2 // T.int64(4), T.int64(3), v_i3] * T.float32(0.125) + columns[v_i0, v_i1, v_i2 // T.int64(4), T.int64(4), v_i3] * T.float32(-8) + columns[v_i0, v_i1, v_i2 // T.int64(4), T.int64(5), v_i3])))

    @T.prim_func(private=True)
    def winograd_weights(W: T.Buffer((2, 2, 3, 3), "float32"), U: T.Buffer((6, 6, 2, 2), "float32")):
        # with T.block("root"):
        for i0, i1, i2, i3 in T.grid(T.int64(6), T.int64(6), T.int64(2), T.int64(2)):
            with T.block("U"):
                v_i0, v_i1, v_i2, v_i3 = T.axis.remap("SSSS", [i0, i1, i2, i3])
                T.reads(W[v_i3, v_i2, T.int64(0):T.int64(3), T.int64(0):T.int64(3)])
                T.writes(U[v_i0, v_i1, v_i2, v_i3])
                U[v_i0, v_i1, v_i2, v_i3] = T.Cast("float32", T.if_then_else(v_i0 == T.int64(0), T.float64(1), T.if_then_else(v_i0 == T.int64(1), T.float64(0.3333333333333333), T.if_then_else(v_i0 == T.int64(2), T.float64(-0.3333333333333333), T.if_then_else(v_i0 == T.int64(3), T.float64(-1.0666666666666667), T.if_then_else(v_i0 == T.int64(4), T.float64(0.06666666666666667), T.float64(0)))))) * T.Cast("float64", W[v_i3, v_i2, T.int64(0), T.int64(0)]) * T.if_then_else(v_i1 == T.int64(0), T.float64(1), T.if_then_else(v_i1 == T.int64(1), T.float64(0.3333333333333333), T.if_then_else(v_i1 == T.int64(2), T.float64(-0.3333333333333333), T.if_then_else(v_i1 == T.int64(3), T.float64(-1.0666666666666667), T.if_then_else(v_i1 == T.int64(4), T.float64(0.06666666666666667), T.float64(0)))))) + T.if_then_else(v_i0 == T.int64(0), T.float64(1), T.if_then_else(v_i0 == T.int64(1), T.float64(0.3333333333333333), T.if_then_else(v_i0 == T.int64(2), T.float64(-0.3333333333333333), T.if_then_else(v_i0 == T.int64(3), T.float64(-1.0666666666666667), T.if_then_else(v_i0 == T.int64(4), T.float64(0.06666666666666667), T.float64(0)))))) * T.Cast("float64", W[v_i3, v_i2, T.int64(0), T.int64(1)]) * T.if_then_else(v_i1 == T.int64(0), T.float64(0), T.if_then_else(v_i1 == T.int64(1), T.float64(0.3333333333333333), T.if_then_else(v_i1 == T.int64(2), T.float64(0.3333333333333333), T.if_then_else(v_i1 == T.int64(3), T.float64(-0.5333333333333333), T.if_then_else(v_i1 == T.int64(4), T.float64(-0.13333333333333333), T.float64(0)))))) + T.if_then_else(v_i0 == T.int64(0), T.float64(1), T.if_then_else(v_i0 == T.int64(1), T.float64(0.3333333333333333), T.if_then_else(v_i0 == T.int64(2), T.float64(-0.3333333333333333), T.if_then_else(v_i0 == T.int64(3), T.float64(-1.0666666666666667), T.if_then_else(v_i0 == T.int64(4), T.float64(0.06666666666666667), T.float64(0)))))) * T.Cast("float64", W[v_i3, v_i2, T.int64(0), T.int64(2)]) * T.if_then_else(v_i1 == T.int64(0), T.float64(0), T.if_then_else(v_i1 == T.int64(1), T.float64(0.3333333333333333), T.if_then_else(v_i1 == T.int64(2), T.float64(-0.3333333333333333), T.if_then_else(v_i1 == T.int64(3), T.float64(-0.26666666666666666), T.if_then_else(v_i1 == T.int64(4), T.float64(0.26666666666666666), T.float64(1)))))) + T.if_then_else(v_i0 == T.int64(0), T.float64(0), T.if_then_else(v_i0 == T.int64(1), T.float64(0.3333333333333333), T.if_then_else(v_i0 == T.int64(2), T.float64(0.3333333333333333), T.if_then_else(v_i0 == T.int64(3), T.float64(-0.5333333333333333), T.if_then_else(v_i0 == T.int64(4), T.float64(-0.13333333333333333), T.float64(0)))))) * T.Cast("float64", W[v_i3, v_i2, T.int64(1), T.int64(0)]) * T.if_then_else(v_i1 == T.int64(0), T.float64(1), T.if_then_else(v_i1 == T.int64(1), T.float64(0.3333333333333333), T.if_then_else(v_i1 == T.int64(2), T.float64(-0.3333333333333333), T.if_then_else(v_i1 == T.int64(3), T.float64(-1.0666666666666667), T.if_then_else(v_i1 == T.int64(4), T.float64(0.06666666666666667), T.float64(0)))))) + T.if_then_else(v_i0 == T.int64(0), T.float64(0), T.if_then_else(v_i0 == T.int64(1), T.float64(0.3333333333333333), T.if_then_else(v_i0 == T.int64(2), T.float64(0.3333333333333333), T.if_then_else(v_i0 == T.int64(3), T.float64(-0.5333333333333333), T.if_then_else(v_i0 == T.int64(4), T.float64(-0.13333333333333333), T.float64(0)))))) * T.Cast("float64", W[v_i3, v_i2, T.int64(1), T.int64(1)]) * T.if_then_else(v_i1 == T.int64(0), T.float64(0), T.if_then_else(v_i1 == T.int64(1), T.float64(0.3333333333333333), T.if_then_else(v_i1 == T.int64(2), T.float64(0.3333333333333333), T.if_then_else(v_i1 == T.int64(3), T.float64(-0.5333333333333333), T.if_then_else(v_i1 == T.int64(4), T.float64(-0.13333333333333333), T.float64(0)))))) + T.if_then_else(v_i0 == T.int64(0), T.float64(0), T.if_then_else(v_i0 == T.int64(1), T.float64(0.3333333333333333), T.if_then_else(v_i0 == T.int64(2), T.float64(0.3333333333333333), T.if_then_else(v_i0 == T.int64(3), T.float64(-0.5333333333333333), T.if_then_else(v_i0 == T.int64(4), T.float64(-0.13333333333333333), T.float64(0)))))) * T.Cast("float64", W[v_i3, v_i2, T.int64(1), T.int64(2)]) * T.if_then_else(v_i1 == T.int64(0), T.float64(0), T.if_then_else(v_i1 == T.int64(1), T.float64(0.3333333333333333), T.if_then_else(v_i1 == T.int64(2), T.float64(-0.3333333333333333), T.if_then_else(v_i1 == T.int64(3), T.float64(-0.26666666666666666), T.if_then_else(v_i1 == T.int64(4), T.float64(0.26666666666666666), T.float64(1)))))) + T.if_then_else(v_i0 == T.int64(0), T.float64(0), T.if_then_else(v_i0 == T.int64(1), T.float64(0.3333333333333333), T.if_then_else(v_i0 == T.int64(2), T.float64(-0.3333333333333333), T.if_then_else(v_i0 == T.int64(3), T.float64(-0.26666666666666666), T.if_then_else(v_i0 == T.int64(4), T.float64(0.26666666666666666), T.float64(1)))))) * T.Cast("float64", W[v_i3, v_i2, T.int64(2), T.int64(0)]) * T.if_then_else(v_i1 == T.int64(0), T.float64(1), T.if_then_else(v_i1 == T.int64(1), T.float64(0.3333333333333333), T.if_then_else(v_i1 == T.int64(2), T.float64(-0.3333333333333333), T.if_then_else(v_i1 == T.int64(3), T.float64(-1.0666666666666667), T.if_then_else(v_i1 == T.int64(4), T.float64(0.06666666666666667), T.float64(0)))))) + T.if_then_else(v_i0 == T.int64(0), T.float64(0), T.if_then_else(v_i0 == T.int64(1), T.float64(0.3333333333333333), T.if_then_else(v_i0 == T.int64(2), T.float64(-0.3333333333333333), T.if_then_else(v_i0 == T.int64(3), T.float64(-0.26666666666666666), T.if_then_else(v_i0 == T.int64(4), T.float64(0.26666666666666666), T.float64(1)))))) * T.Cast("float64", W[v_i3, v_i2, T.int64(2), T.int64(1)]) * T.if_then_else(v_i1 == T.int64(0), T.float64(0), T.if_then_else(v_i1 == T.int64(1), T.float64(0.3333333333333333), T.if_then_else(v_i1 == T.int64(2), T.float64(0.3333333333333333), T.if_then_else(v_i1 == T.int64(3), T.float64(-0.5333333333333333), T.if_then_else(v_i1 == T.int64(4), T.float64(-0.13333333333333333), T.float64(0)))))) + T.if_then_else(v_i0 == T.int64(0), T.float64(0), T.if_then_else(v_i0 == T.int64(1), T.float64(0.3333333333333333), T.if_then_else(v_i0 == T.int64(2), T.float64(-0.3333333333333333), T.if_then_else(v_i0 == T.int64(3), T.float64(-0.26666666666666666), T.if_then_else(v_i0 == T.int64(4), T.float64(0.26666666666666666), T.float64(1)))))) * T.Cast("float64", W[v_i3, v_i2, T.int64(2), T.int64(2)]) * T.if_then_else(v_i1 == T.int64(0), T.float64(0), T.if_then_else(v_i1 == T.int64(1), T.float64(0.3333333333333333), T.if_then_else(v_i1 == T.int64(2), T.float64(-0.3333333333333333), T.if_then_else(v_i1 == T.int64(3), T.float64(-0.26666666666666666), T.if_then_else(v_i1 == T.int64(4), T.float64(0.26666666666666666), T.float64(1)))))))

    @R.function
    def main(x: R.Tensor(("n", 2, 5, 6), dtype="float32"), v: R.Tensor((2, 2, 3, 3), dtype="float32"), w: R.Tensor((2, 2, 3, 3), dtype="float32")) -> R.Tensor(("n", 2, 3, 4), dtype="float32"):
        n = T.int64()
        R.func_attr({"num_input": 2})
        cls = Module
        with R.dataflow():
            winograd_weights = R.call_tir(cls.winograd_weights, (w,), out_sinfo=R.Tensor((6, 6, 2, 2), dtype="float32"))
            channels_last = R.call_tir(cls.channels_last, (x,), out_sinfo=R.Tensor((n, 5, 6, 2), dtype="float32"))
            winograd_conv2d = R.call_tir(cls.winograd_conv2d, (channels_last, winograd_weights), out_sinfo=R.Tensor((n, 8, 8, 2), dtype="float32"))
            y = R.call_tir(cls.channels_placed, (winograd_conv2d,), out_sinfo=R.Tensor((n, 2, 5, 6), dtype="float32"))
            z = R.call_tir(cls.conv2d1, (y, v), out_sinfo=R.Tensor((n, 2, 3, 4), dtype="float32"))
            R.output(z)
        return z
