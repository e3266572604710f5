# test: pass
# run: legalize_ops
# Of a tuple that the function makes the elements are passed. Of constants alone the first one is passed: the call can be folded.

@I.ir_module
class Module:
    @R.function
    def main(x: R.Tensor((2,), "float32"), y: R.Tensor((2,), "float32")):
        with R.dataflow():
            t = (x, y)
            a = R.concat(t, axis=0)
            b = R.add(R.const(1, "float32"), R.const(2, "float32"))
            c = R.add(a, b)
            R.output(c)
        return c
# expect:
# from tvm.script import ir as I
# from tvm.script import tir as T
# from tvm.script import relax as R

@I.ir_module
class Module:
    @T.prim_func(private=True)
    def add(x1: T.Buffer((), "float32"), add: T.Buffer((), "float32")):
        # with T.block("root"):
        with T.block("add"):
            T.reads(x1[()])
            T.writes(add[()])
            add[()] = x1[()] + T.float32(2)

    @T.prim_func(private=True)
    def add1(x1: T.Buffer((4,), "float32"), x2: T.Buffer((), "float32"), add: T.Buffer((4,), "float32")):
        # with T.block("root"):
        for i0 in range(T.int64(4)):
            with T.block("add"):
                v_i0 = T.axis.spatial(T.int64(4), i0)
                T.reads(x1[v_i0], x2[()])
                T.writes(add[v_i0])
                add[v_i0] = x1[v_i0] + x2[()]

    @T.prim_func(private=True)
    def concat(tensors_0: T.Buffer((2,), "float32"), tensors_1: T.Buffer((2,), "float32"), concat: T.Buffer((4,), "float32")):
        # with T.block("root"):
        for i0 in range(T.int64(4)):
            with T.block("concat"):
                v_i0 = T.axis.spatial(T.int64(4), i0)
                T.reads(tensors_0[v_i0], tensors_1[v_i0 - T.int64(2)])
                T.writes(concat[v_i0])
                concat[v_i0] = T.if_then_else(v_i0 < T.int64(2), tensors_0[v_i0], tensors_1[v_i0 - T.int64(2)])

    @R.function
    def main(x: R.Tensor((2,), dtype="float32"), y: R.Tensor((2,), dtype="float32")) -> R.Tensor((4,), dtype="float32"):
        cls = Module
        with R.dataflow():
            t: R.Tuple(R.Tensor((2,), dtype="float32"), R.Tensor((2,), dtype="float32")) = (x, y)
            a = R.call_tir(cls.concat, (x, y), out_sinfo=R.Tensor((4,), dtype="float32"))
            b = R.call_tir(cls.add, (R.const(1.0, "float32"),), out_sinfo=R.Tensor((), dtype="float32"))
            c = R.call_tir(cls.add1, (a, b), out_sinfo=R.Tensor((4,), dtype="float32"))
            R.output(c)
        return c
