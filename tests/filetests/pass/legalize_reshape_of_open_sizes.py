# test: pass
# run: legalize_ops
# A reshape is a program, to be fused, unless that divides by an open size for each element: then it stays a view.

@I.ir_module
class Module:
    @R.function
    def main(x: R.Tensor((2, "n", 6), "float32"), y: R.Tensor((2, "n", "m"), "float32")):
        n, m = T.int64(), T.int64()
        with R.dataflow():
            heads = R.reshape(x, R.shape([2, n, 2, 3]))
            rows = R.reshape(x, R.shape([2 * n, 6]))
            turned = R.reshape(y, R.shape([2, m, n]))
            column = R.reshape(y, R.shape([2, m, n, 1]))
            open: R.Tensor(ndim=3, dtype="float32") = R.reshape(y, R.shape([2, -1, n]))
            R.output(heads, rows, turned, column, open)
        return (heads, rows, turned, column, open)
# expect:
# from tvm.script import ir as I
# from tvm.script import tir as T
# from tvm.script import relax as R

@I.ir_module
class Module:
    @T.prim_func(private=True)
    def reshape(var_x: T.handle, var_reshape: T.handle):
        n = T.int64()
        x = T.match_buffer(var_x, (2, n, 6))
        reshape = T.match_buffer(var_reshape, (2, n, 2, 3))
        # with T.block("root"):
        for i0, i1, i2, i3 in T.grid(T.int64(2), n, T.int64(2), T.int64(3)):
            with T.block("reshape"):
                v_i0, v_i1, v_i2, v_i3 = T.axis.remap("SSSS", [i0, i1, i2, i3])
                T.reads(x[(((v_i0 * n + v_i1) * T.int64(2) + v_i2) * T.int64(3) + v_i3) // (n * T.int64(6)), (((v_i0 * n + v_i1) * T.int64(2) + v_i2) * T.int64(3) + v_i3) // T.int64(6) % n, (((v_i0 * n + v_i1) * T.int64(2) + v_i2) * T.int64(3) + v_i3) % T.int64(6)])
                T.writes(reshape[v_i0, v_i1, v_i2, v_i3])
                reshape[v_i0, v_i1, v_i2, v_i3] = x[(((v_i0 * n + v_i1) * T.int64(2) + v_i2) * T.int64(3) + v_i3) // (n * T.int64(6)), (((v_i0 * n + v_i1) * T.int64(2) + v_i2) * T.int64(3) + v_i3) // T.int64(6) % n, (((v_i0 * n + v_i1) * T.int64(2) + v_i2) * T.int64(3) + v_i3) % T.int64(6)]

    @T.prim_func(private=True)
    def reshape1(var_x: T.handle, var_reshape: T.handle):
        n = T.int64()
        x = T.match_buffer(var_x, (2, n, 6))
        reshape = T.match_buffer(var_reshape, (T.int64(2) * n, 6))
        # with T.block("root"):
        for i0, i1 in T.grid(T.int64(2) * n, T.int64(6)):
            with T.block("reshape"):
                v_i0, v_i1 = T.axis.remap("SS", [i0, i1])
                T.reads(x[(v_i0 * T.int64(6) + v_i1) // (n * T.int64(6)), (v_i0 * T.int64(6) + v_i1) // T.int64(6) % n, (v_i0 * T.int64(6) + v_i1) % T.int64(6)])
                T.writes(reshape[v_i0, v_i1])
                reshape[v_i0, v_i1] = x[(v_i0 * T.int64(6) + v_i1) // (n * T.int64(6)), (v_i0 * T.int64(6) + v_i1) // T.int64(6) % n, (v_i0 * T.int64(6) + v_i1) % T.int64(6)]

    @R.function
    def main(x: R.Tensor((2, "n", 6), dtype="float32"), y: R.Tensor((2, "n", "m"), dtype="float32")) -> R.Tuple(R.Tensor((2, "n", 2, 3), dtype="float32"), R.Tensor(("2 * n", 6), dtype="float32"), R.Tensor((2, "m", "n"), dtype="float32"), R.Tensor((2, "m", "n", 1), dtype="float32"), R.Tensor(dtype="float32", ndim=3)):
        m = T.int64()
        n = T.int64()
        cls = Module
        with R.dataflow():
            heads = R.call_tir(cls.reshape, (x,), out_sinfo=R.Tensor((2, n, 2, 3), dtype="float32"))
            rows = R.call_tir(cls.reshape1, (x,), out_sinfo=R.Tensor((2 * n, 6), dtype="float32"))
            turned: R.Tensor((2, m, n), dtype="float32") = R.reshape(y, R.shape([2, m, n]))
            column: R.Tensor((2, m, n, 1), dtype="float32") = R.reshape(y, R.shape([2, m, n, 1]))
            open: R.Tensor((2, m, n), dtype="float32") = R.reshape(y, R.shape([2, m, n]))
            R.output(heads, rows, turned, column, open)
        return (heads, rows, turned, column, open)
