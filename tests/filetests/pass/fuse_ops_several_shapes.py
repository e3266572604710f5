# test: pass
# run: legalize_ops, annotate_tir_op_pattern, fuse_ops
# A program with results of different shapes is not elementwise: a convolution does not take it for its epilogue.

@I.ir_module
class Module:
    @R.function
    def main(x: R.Tensor((1, 2, 4, 4), "float32"), w: R.Tensor((2, 2, 3, 3), "float32"), s: R.Tensor((2,), "float32")):
        with R.dataflow():
            c = R.nn.conv2d(x, w, padding=(1, 1))
            n = R.nn.batch_norm(c, s, s, s, s, axis=1, training=False)
            y = n[0]
            z = R.nn.relu(y)
            R.output(z)
        return z
# expect:
# from tvm.script import ir as I
# from tvm.script import tir as T
# from tvm.script import relax as R

@I.ir_module
class Module:
    @T.prim_func(private=True)
    def batch_norm(data: T.Buffer((1, 2, 4, 4), "float32"), gamma: T.Buffer((2,), "float32"), beta: T.Buffer((2,), "float32"), moving_mean: T.Buffer((2,), "float32"), moving_var: T.Buffer((2,), "float32"), batch_norm: T.Buffer((1, 2, 4, 4), "float32"), batch_norm_1: T.Buffer((2,), "float32"), batch_norm_2: T.Buffer((2,), "float32")):
        T.func_attr({"op_pattern": 2})
        # with T.block("root"):
        for i0, i1, i2, i3 in T.grid(T.int64(1), T.int64(2), T.int64(4), T.int64(4)):
            with T.block("batch_norm"):
                v_i0, v_i1, v_i2, v_i3 = T.axis.remap("SSSS", [i0, i1, i2, i3])
                T.reads(data[v_i0, v_i1, v_i2, v_i3], moving_mean[v_i1], moving_var[v_i1], gamma[v_i1], beta[v_i1])
                T.writes(batch_norm[v_i0, v_i1, v_i2, v_i3])
                batch_norm[v_i0, v_i1, v_i2, v_i3] = (data[v_i0, v_i1, v_i2, v_i3] - moving_mean[v_i1]) * T.rsqrt(moving_var[v_i1] + T.float32(1e-5)) * gamma[v_i1] + beta[v_i1]
        for i0 in range(T.int64(2)):
            with T.block("batch_norm_1"):
                v_i0 = T.axis.spatial(T.int64(2), i0)
                T.reads(moving_mean[v_i0])
                T.writes(batch_norm_1[v_i0])
                batch_norm_1[v_i0] = moving_mean[v_i0]
        for i0 in range(T.int64(2)):
            with T.block("batch_norm_2"):
                v_i0 = T.axis.spatial(T.int64(2), i0)
                T.reads(moving_var[v_i0])
                T.writes(batch_norm_2[v_i0])
                batch_norm_2[v_i0] = moving_var[v_i0]

    @T.prim_func(private=True)
    def conv2d(data: T.Buffer((1, 2, 4, 4), "float32"), weight: T.Buffer((2, 2, 3, 3), "float32"), conv2d: T.Buffer((1, 2, 4, 4), "float32")):
        T.func_attr({"op_pattern": 4})
        # with T.block("root"):
        pad_temp = T.alloc_buffer((1, 2, 6, 6))
        for i0, i1, i2, i3 in T.grid(T.int64(1), T.int64(2), T.int64(6), T.int64(6)):
            with T.block("pad_temp"):
                v_i0, v_i1, v_i2, v_i3 = T.axis.remap("SSSS", [i0, i1, i2, i3])
                T.reads(data[v_i0, v_i1, v_i2 - T.int64(1), v_i3 - T.int64(1)])
                T.writes(pad_temp[v_i0, v_i1, v_i2, v_i3])
                pad_temp[v_i0, v_i1, v_i2, v_i3] = T.if_then_else(v_i2 >= T.int64(1) and v_i2 < T.int64(5) and v_i3 >= T.int64(1) and v_i3 < T.int64(5), data[v_i0, v_i1, v_i2 - T.int64(1), v_i3 - T.int64(1)], T.float32(0))
        for i0, i1, i2, i3, rc, ry, rx in T.grid(T.int64(1), T.int64(2), T.int64(4), T.int64(4), T.int64(2), T.int64(3), T.int64(3)):
            with T.block("conv2d"):
                v_i0, v_i1, v_i2, v_i3, v_rc, v_ry, v_rx = T.axis.remap("SSSSRRR", [i0, i1, i2, i3, rc, ry, rx])
                T.reads(pad_temp[v_i0, v_rc, v_i2 + v_ry, v_i3 + v_rx], weight[v_i1, v_rc, v_ry, v_rx])
                T.writes(conv2d[v_i0, v_i1, v_i2, v_i3])
                with T.init():
                    conv2d[v_i0, v_i1, v_i2, v_i3] = T.float32(0)
                conv2d[v_i0, v_i1, v_i2, v_i3] = conv2d[v_i0, v_i1, v_i2, v_i3] + pad_temp[v_i0, v_rc, v_i2 + v_ry, v_i3 + v_rx] * weight[v_i1, v_rc, v_ry, v_rx]

    @T.prim_func(private=True)
    def relu(x: T.Buffer((1, 2, 4, 4), "float32"), relu: T.Buffer((1, 2, 4, 4), "float32")):
        T.func_attr({"op_pattern": 0})
        # with T.block("root"):
        for i0, i1, i2, i3 in T.grid(T.int64(1), T.int64(2), T.int64(4), T.int64(4)):
            with T.block("relu"):
                v_i0, v_i1, v_i2, v_i3 = T.axis.remap("SSSS", [i0, i1, i2, i3])
                T.reads(x[v_i0, v_i1, v_i2, v_i3])
                T.writes(relu[v_i0, v_i1, v_i2, v_i3])
                relu[v_i0, v_i1, v_i2, v_i3] = T.max(x[v_i0, v_i1, v_i2, v_i3], T.float32(0))

    @R.function(private=True)
    def fused_batch_norm_relu(c: R.Tensor((1, 2, 4, 4), dtype="float32"), s: R.Tensor((2,), dtype="float32")) -> R.Tensor((1, 2, 4, 4), dtype="float32"):
        R.func_attr({"Primitive": True})
        cls = Module
        with R.dataflow():
            n = R.call_tir(cls.batch_norm, (c, s, s, s, s), out_sinfo=[R.Tensor((1, 2, 4, 4), dtype="float32"), R.Tensor((2,), dtype="float32"), R.Tensor((2,), dtype="float32")])
            y: R.Tensor((1, 2, 4, 4), dtype="float32") = n[0]
            z = R.call_tir(cls.relu, (y,), out_sinfo=R.Tensor((1, 2, 4, 4), dtype="float32"))
            R.output(z)
        return z

    @R.function
    def main(x: R.Tensor((1, 2, 4, 4), dtype="float32"), w: R.Tensor((2, 2, 3, 3), dtype="float32"), s: R.Tensor((2,), dtype="float32")) -> R.Tensor((1, 2, 4, 4), dtype="float32"):
        cls = Module
        with R.dataflow():
            c = R.call_tir(cls.conv2d, (x, w), out_sinfo=R.Tensor((1, 2, 4, 4), dtype="float32"))
            z: R.Tensor((1, 2, 4, 4), dtype="float32") = cls.fused_batch_norm_relu(c, s)
            R.output(z)
        return z
