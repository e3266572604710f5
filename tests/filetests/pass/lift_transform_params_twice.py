# test: pass
# run: lift_transform_params, legalize_ops, lift_transform_params, dead_code_elimination
# A second run finds nothing more, and leaves the function for weights as it is.

@I.ir_module
class Module:
    @R.function
    def main(x: R.Tensor(("n", 4), "float32"), w: R.Tensor((4, "m"), "float32"), b: R.Tensor(("m",), "float32")) -> R.Tensor(("n", "m"), "float32"):
        R.func_attr({"num_input": 1})
        with R.dataflow():
            t = R.exp(w)
            p = R.matmul(x, t)
            q = R.add(p, b)
            R.output(q)
        return q
# expect:
# from tvm.script import ir as I
# from tvm.script import tir as T
# from tvm.script import relax as R

@I.ir_module
class Module:
    @T.prim_func(private=True)
    def add(var_x1: T.handle, var_x2: T.handle, var_add: T.handle):
        n, m = T.int64(), T.int64()
        x1 = T.match_buffer(var_x1, (n, m))
        x2 = T.match_buffer(var_x2, (m,))
        add = T.match_buffer(var_add, (n, m))
        # with T.block("root"):
        for i0, i1 in T.grid(n, m):
            with T.block("add"):
                v_i0, v_i1 = T.axis.remap("SS", [i0, i1])
                T.reads(x1[v_i0, v_i1], x2[v_i1])
                T.writes(add[v_i0, v_i1])
                add[v_i0, v_i1] = x1[v_i0, v_i1] + x2[v_i1]

    @T.prim_func(private=True)
    def exp(var_x: T.handle, var_exp: T.handle):
        m = T.int64()
        x = T.match_buffer(var_x, (4, m))
        exp = T.match_buffer(var_exp, (4, m))
        # with T.block("root"):
        for i0, i1 in T.grid(T.int64(4), m):
            with T.block("exp"):
                v_i0, v_i1 = T.axis.remap("SS", [i0, i1])
                T.reads(x[v_i0, v_i1])
                T.writes(exp[v_i0, v_i1])
                exp[v_i0, v_i1] = T.exp(x[v_i0, v_i1])

    @T.prim_func(private=True)
    def matmul(var_x1: T.handle, var_x2: T.handle, var_matmul: T.handle):
        n = T.int64()
        x1 = T.match_buffer(var_x1, (n, 4))
        m = T.int64()
        x2 = T.match_buffer(var_x2, (4, m))
        matmul = T.match_buffer(var_matmul, (n, m))
        # with T.block("root"):
        for i0, i1, k in T.grid(n, m, T.int64(4)):
            with T.block("matmul"):
                v_i0, v_i1, v_k = T.axis.remap("SSR", [i0, i1, k])
                T.reads(x1[v_i0, v_k], x2[v_k, v_i1])
                T.writes(matmul[v_i0, v_i1])
                with T.init():
                    matmul[v_i0, v_i1] = T.float32(0)
                matmul[v_i0, v_i1] = matmul[v_i0, v_i1] + x1[v_i0, v_k] * x2[v_k, v_i1]

    @R.function
    def main(x: R.Tensor(("n", 4), dtype="float32"), b: R.Tensor(("m",), dtype="float32"), t: R.Tensor((4, "m"), dtype="float32")) -> R.Tensor(("n", "m"), dtype="float32"):
        m = T.int64()
        n = T.int64()
        R.func_attr({"num_input": 1})
        cls = Module
        with R.dataflow():
            p = R.call_tir(cls.matmul, (x, t), out_sinfo=R.Tensor((n, m), dtype="float32"))
            q = R.call_tir(cls.add, (p, b), out_sinfo=R.Tensor((n, m), dtype="float32"))
            R.output(q)
        return q

    @R.function
    def main_transform_params(model_params: R.Tuple(R.Tensor((4, "m"), dtype="float32"), R.Tensor(("m",), dtype="float32"))) -> R.Tuple(R.Tensor(("m",), dtype="float32"), R.Tensor((4, "m"), dtype="float32")):
        m = T.int64()
        R.func_attr({"num_input": 0})
        cls = Module
        with R.dataflow():
            w: R.Tensor((4, m), dtype="float32") = model_params[0]
            t = R.call_tir(cls.exp, (w,), out_sinfo=R.Tensor((4, m), dtype="float32"))
            b: R.Tensor((m,), dtype="float32") = model_params[1]
            output_tuple: R.Tuple(R.Tensor((m,), dtype="float32"), R.Tensor((4, m), dtype="float32")) = (b, t)
            R.output(output_tuple)
        return output_tuple
