# test: pass
# run: lift_transform_params
# What weights alone decide moves, but not what is held back, and not what no weight decides. The weight that inference uses as
# it is comes first, and one that nothing uses does not come at all.

@I.ir_module
class Module:
    @T.prim_func
    def double(A: T.Buffer((4, 4), "float32"), B: T.Buffer((4, 4), "float32")):
        for i, j in T.grid(4, 4):
            with T.block("B"):
                vi, vj = T.axis.remap("SS", [i, j])
                B[vi, vj] = A[vi, vj] * T.float32(2)

    @R.function
    def main(x: R.Tensor((2, 4), "float32"), unused: R.Tensor((4,), "float32"), w: R.Tensor((4, 4), "float32"), v: R.Tensor((4, 4), "float32")) -> R.Tuple(R.Tensor((2, 4), "float32"), R.Tensor((4, 4), "float32")):
        cls = Module
        R.func_attr({"num_input": 1})
        with R.dataflow():
            o = R.ones((4, 4), "float32")
            a = R.add(w, o)
            b = R.call_tir(cls.double, (a,), R.Tensor((4, 4), "float32"))
            c = R.permute_dims(v)
            d = R.builtin.stop_lift_params(c)
            e = R.multiply(d, d)
            f = R.matmul(x, b)
            g = R.matmul(f, e)
            h = R.matmul(g, v)
            i = R.exp(w)
            R.output(h, i)
        return (h, i)
# expect:
# from tvm.script import ir as I
# from tvm.script import tir as T
# from tvm.script import relax as R

@I.ir_module
class Module:
    @T.prim_func
    def double(A: T.Buffer((4, 4), "float32"), B: T.Buffer((4, 4), "float32")):
        # with T.block("root"):
        for i, j in T.grid(4, 4):
            with T.block("B"):
                vi, vj = T.axis.remap("SS", [i, j])
                T.reads(A[vi, vj])
                T.writes(B[vi, vj])
                B[vi, vj] = A[vi, vj] * T.float32(2)

    @R.function
    def main(x: R.Tensor((2, 4), dtype="float32"), v: R.Tensor((4, 4), dtype="float32"), b: R.Tensor((4, 4), dtype="float32"), c: R.Tensor((4, 4), dtype="float32"), i: R.Tensor((4, 4), dtype="float32")) -> R.Tuple(R.Tensor((2, 4), dtype="float32"), R.Tensor((4, 4), dtype="float32")):
        R.func_attr({"num_input": 1})
        with R.dataflow():
            o: R.Tensor((4, 4), dtype="float32") = R.ones(R.shape([4, 4]), dtype=R.dtype("float32"))
            e: R.Tensor((4, 4), dtype="float32") = R.multiply(c, c)
            f: R.Tensor((2, 4), dtype="float32") = R.matmul(x, b)
            g: R.Tensor((2, 4), dtype="float32") = R.matmul(f, e)
            h: R.Tensor((2, 4), dtype="float32") = R.matmul(g, v)
            R.output(h)
        gv: R.Tuple(R.Tensor((2, 4), dtype="float32"), R.Tensor((4, 4), dtype="float32")) = (h, i)
        return gv

    @R.function
    def main_transform_params(model_params: R.Tuple(R.Tensor((4,), dtype="float32"), R.Tensor((4, 4), dtype="float32"), R.Tensor((4, 4), dtype="float32"))) -> R.Tuple(R.Tensor((4, 4), dtype="float32"), R.Tensor((4, 4), dtype="float32"), R.Tensor((4, 4), dtype="float32"), R.Tensor((4, 4), dtype="float32")):
        R.func_attr({"num_input": 0})
        cls = Module
        with R.dataflow():
            o: R.Tensor((4, 4), dtype="float32") = R.ones(R.shape([4, 4]), dtype=R.dtype("float32"))
            w: R.Tensor((4, 4), dtype="float32") = model_params[1]
            a: R.Tensor((4, 4), dtype="float32") = R.add(w, o)
            b = R.call_tir(cls.double, (a,), out_sinfo=R.Tensor((4, 4), dtype="float32"))
            v: R.Tensor((4, 4), dtype="float32") = model_params[2]
            c: R.Tensor((4, 4), dtype="float32") = R.permute_dims(v)
            w_1: R.Tensor((4, 4), dtype="float32") = model_params[1]
            i: R.Tensor((4, 4), dtype="float32") = R.exp(w_1)
            v_1: R.Tensor((4, 4), dtype="float32") = model_params[2]
            output_tuple: R.Tuple(R.Tensor((4, 4), dtype="float32"), R.Tensor((4, 4), dtype="float32"), R.Tensor((4, 4), dtype="float32"), R.Tensor((4, 4), dtype="float32")) = (v_1, b, c, i)
            R.output(output_tuple)
        return output_tuple
