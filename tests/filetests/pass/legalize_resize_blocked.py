# test: pass
# run: legalize_ops
# A resize leaves blocks of channels as they are, and computes what TVM computes.

@I.ir_module
class Module:
    @R.function
    def main(x: R.Tensor((1, 2, 2, 3, 4), "float32")):
        y = R.image.resize2d(x, (4, 6), layout="NCHW4c", method="nearest_neighbor", coordinate_transformation_mode="asymmetric", rounding_method="floor")
        return y
# expect:
# from tvm.script import ir as I
# from tvm.script import tir as T
# from tvm.script import relax as R

@I.ir_module
class Module:
    @T.prim_func(private=True)
    def resize2d(data: T.Buffer((1, 2, 2, 3, 4), "float32"), resize2d: T.Buffer((1, 2, 4, 6, 4), "float32")):
        # with T.block("root"):
        for i0, i1, i2, i3, i4 in T.grid(T.int64(1), T.int64(2), T.int64(4), T.int64(6), T.int64(4)):
            with T.block("resize2d"):
                v_i0, v_i1, v_i2, v_i3, v_i4 = T.axis.remap("SSSSS", [i0, i1, i2, i3, i4])
                T.reads(data[v_i0, v_i1, T.max(T.min(v_i2 * T.int64(2) // T.int64(4), T.int64(1)), T.int64(0)), T.max(T.min(v_i3 * T.int64(3) // T.int64(6), T.int64(2)), T.int64(0)), v_i4])
                T.writes(resize2d[v_i0, v_i1, v_i2, v_i3, v_i4])
                resize2d[v_i0, v_i1, v_i2, v_i3, v_i4] = data[v_i0, v_i1, T.max(T.min(v_i2 * T.int64(2) // T.int64(4), T.int64(1)), T.int64(0)), T.max(T.min(v_i3 * T.int64(3) // T.int64(6), T.int64(2)), T.int64(0)), v_i4]

    @R.function
    def main(x: R.Tensor((1, 2, 2, 3, 4), dtype="float32")) -> R.Tensor((1, 2, 4, 6, 4), dtype="float32"):
        cls = Module
        y = R.call_tir(cls.resize2d, (x,), out_sinfo=R.Tensor((1, 2, 4, 6, 4), dtype="float32"))
        return y
