# test: pass
# run: legalize_ops
# A scalar of unknown value is an argument of the loop program; it takes no memory.

@I.ir_module
class Module:
    @R.function(private=True)
    def scaled(x: R.Tensor((4,), "float32"), low: R.Prim("float32"), k: R.Prim("float32"), n: R.Prim("int64")) -> R.Tensor((4,), "float32"):
        with R.dataflow():
            a = R.multiply(x, k)
            b = R.clip(a, low, 0.5)
            c = R.add(b, R.astype(R.arange(n, dtype="int64"), "float32"))
            R.output(c)
        return c

    @R.function
    def main(x: R.Tensor((4,), "float32")) -> R.Tensor((4,), "float32"):
        cls = Module
        a = cls.scaled(x, R.prim_value(T.float32(-0.25)), R.prim_value(T.float32(2.0)), R.prim_value(4))
        return a
# expect:
# from tvm.script import ir as I
# from tvm.script import tir as T
# from tvm.script import relax as R

@I.ir_module
class Module:
    @T.prim_func(private=True)
    def add(x1: T.Buffer((4,), "float32"), var_x2: T.handle, add: T.Buffer((4,), "float32")):
        n = T.int64()
        x2 = T.match_buffer(var_x2, (n,))
        # with T.block("root"):
        for i0 in range(T.int64(4)):
            with T.block("add"):
                v_i0 = T.axis.spatial(T.int64(4), i0)
                T.reads(x1[v_i0], x2[v_i0])
                T.writes(add[v_i0])
                add[v_i0] = x1[v_i0] + x2[v_i0]

    @T.prim_func(private=True)
    def arange(var_arange: T.handle):
        n = T.int64()
        arange = T.match_buffer(var_arange, (n,), "int64")
        # with T.block("root"):
        for i0 in range(n):
            with T.block("arange"):
                v_i0 = T.axis.spatial(n, i0)
                T.reads()
                T.writes(arange[v_i0])
                arange[v_i0] = T.int64(0) + v_i0 * T.int64(1)

    @T.prim_func(private=True)
    def astype(var_x: T.handle, var_astype: T.handle):
        n = T.int64()
        x = T.match_buffer(var_x, (n,), "int64")
        astype = T.match_buffer(var_astype, (n,))
        # with T.block("root"):
        for i0 in range(n):
            with T.block("astype"):
                v_i0 = T.axis.spatial(n, i0)
                T.reads(x[v_i0])
                T.writes(astype[v_i0])
                astype[v_i0] = T.Cast("float32", x[v_i0])

    @T.prim_func(private=True)
    def clip(x: T.Buffer((4,), "float32"), scalar: T.float32, clip: T.Buffer((4,), "float32")):
        # with T.block("root"):
        for i0 in range(T.int64(4)):
            with T.block("clip"):
                v_i0 = T.axis.spatial(T.int64(4), i0)
                T.reads(x[v_i0])
                T.writes(clip[v_i0])
                clip[v_i0] = T.min(T.max(x[v_i0], scalar), T.float32(0.5))

    @T.prim_func(private=True)
    def multiply(x1: T.Buffer((4,), "float32"), scalar: T.float32, multiply: T.Buffer((4,), "float32")):
        # with T.block("root"):
        for i0 in range(T.int64(4)):
            with T.block("multiply"):
                v_i0 = T.axis.spatial(T.int64(4), i0)
                T.reads(x1[v_i0])
                T.writes(multiply[v_i0])
                multiply[v_i0] = x1[v_i0] * scalar

    @R.function
    def main(x: R.Tensor((4,), dtype="float32")) -> R.Tensor((4,), dtype="float32"):
        cls = Module
        a: R.Tensor((4,), dtype="float32") = cls.scaled(x, R.prim_value(T.float32(-0.25)), R.prim_value(T.float32(2)), R.prim_value(4))
        return a

    @R.function(private=True)
    def scaled(x: R.Tensor((4,), dtype="float32"), low: R.Prim("float32"), k: R.Prim("float32"), n_1: R.Prim(value="n")) -> R.Tensor((4,), dtype="float32"):
        n = T.int64()
        cls = Module
        with R.dataflow():
            a = R.call_tir(cls.multiply, (x, k), out_sinfo=R.Tensor((4,), dtype="float32"))
            b = R.call_tir(cls.clip, (a, low), out_sinfo=R.Tensor((4,), dtype="float32"))
            lv = R.call_tir(cls.arange, (), out_sinfo=R.Tensor((n,), dtype="int64"))
            lv_1 = R.call_tir(cls.astype, (lv,), out_sinfo=R.Tensor((n,), dtype="float32"))
            R_add__extents_that_broadcast___n_must_be_4: R.Prim(value=4) = R.match_cast(R.prim_value(n), R.Prim(value=4))
            c = R.call_tir(cls.add, (b, lv_1), out_sinfo=R.Tensor((4,), dtype="float32"))
            R.output(c)
        return c
