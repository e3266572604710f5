# test: pass
# run: dataflow_use_inplace_calls
# Parameters, what is used again or given back, what broadcasts and what is read elsewhere stay; `z` and `a` are overwritten. Programs are overwritten by as operators are.

@I.ir_module
class Module:
    @T.prim_func(private=True)
    def shift(x: T.Buffer((2, 3), "float32"), y: T.Buffer((2, 3), "float32")):
        for i, j in T.grid(2, 3):
            with T.block("y"):
                vi, vj = T.axis.remap("SS", [i, j])
                y[vi, vj] = x[vi, (vj + 1) % 3]

    @T.prim_func(private=True)
    def silu(x: T.Buffer((2, 3), "float32"), y: T.Buffer((2, 3), "float32")):
        s = T.alloc_buffer((2, 3))
        for i, j in T.grid(2, 3):
            with T.block("s"):
                vi, vj = T.axis.remap("SS", [i, j])
                s[vi, vj] = T.sigmoid(x[vi, vj])
        for i, j in T.grid(2, 3):
            with T.block("y"):
                vi, vj = T.axis.remap("SS", [i, j])
                y[vi, vj] = x[vi, vj] * s[vi, vj]

    @R.function
    def main(x: R.Tensor((2, 3), "float32"), y: R.Tensor((1, 3), "float32")) -> R.Tuple(R.Tensor((2, 3), "float32"), R.Tensor((2, 3), "float32")):
        cls = Module
        with R.dataflow():
            z = R.add(x, y)
            a = R.multiply(z, y)
            b = R.call_tir(cls.shift, (a,), out_ty=R.Tensor((2, 3), "float32"))
            c = R.call_tir(cls.silu, (b,), out_ty=R.Tensor((2, 3), "float32"))
            d = R.add(c, c)
            e = R.subtract(d, c)
            f = R.subtract(y, y)
            g = R.add(e, f)
            h = R.negative(d)
            R.output(g, h)
        return (g, h)

    @R.function
    def symbolic(x: R.Tensor(("n", "m"), "float32"), y: R.Tensor(("n", "m"), "float32")) -> R.Tensor(("n", "m"), "float32"):
        with R.dataflow():
            z = R.add(x, y)
            b = R.exp(z)
            c = R.add(b, y)
            R.output(c)
        return c
# expect:
# from tvm.script import ir as I
# from tvm.script import tir as T
# from tvm.script import relax as R

@I.ir_module
class Module:
    @T.prim_func(private=True)
    def add_inplace(x1: T.Buffer((2, 3), "float32"), x2: T.Buffer((1, 3), "float32")):
        # with T.block("root"):
        for i0, i1 in T.grid(T.int64(2), T.int64(3)):
            with T.block("add"):
                v_i0, v_i1 = T.axis.remap("SS", [i0, i1])
                T.reads(x1[v_i0, v_i1], x2[T.int64(0), v_i1])
                T.writes(x1[v_i0, v_i1])
                x1[v_i0, v_i1] = x1[v_i0, v_i1] + x2[T.int64(0), v_i1]

    @T.prim_func(private=True)
    def add_inplace1(var_x1: T.handle, var_x2: T.handle):
        n, m = T.int64(), T.int64()
        x1 = T.match_buffer(var_x1, (n, m))
        x2 = T.match_buffer(var_x2, (n, m))
        # with T.block("root"):
        for i0, i1 in T.grid(n, m):
            with T.block("add"):
                v_i0, v_i1 = T.axis.remap("SS", [i0, i1])
                T.reads(x1[v_i0, v_i1], x2[v_i0, v_i1])
                T.writes(x1[v_i0, v_i1])
                x1[v_i0, v_i1] = x1[v_i0, v_i1] + x2[v_i0, v_i1]

    @T.prim_func(private=True)
    def exp_inplace(var_x: T.handle):
        n, m = T.int64(), T.int64()
        x = T.match_buffer(var_x, (n, m))
        # with T.block("root"):
        for i0, i1 in T.grid(n, m):
            with T.block("exp"):
                v_i0, v_i1 = T.axis.remap("SS", [i0, i1])
                T.reads(x[v_i0, v_i1])
                T.writes(x[v_i0, v_i1])
                x[v_i0, v_i1] = T.exp(x[v_i0, v_i1])

    @T.prim_func(private=True)
    def multiply_inplace(x1: T.Buffer((2, 3), "float32"), x2: T.Buffer((1, 3), "float32")):
        # with T.block("root"):
        for i0, i1 in T.grid(T.int64(2), T.int64(3)):
            with T.block("multiply"):
                v_i0, v_i1 = T.axis.remap("SS", [i0, i1])
                T.reads(x1[v_i0, v_i1], x2[T.int64(0), v_i1])
                T.writes(x1[v_i0, v_i1])
                x1[v_i0, v_i1] = x1[v_i0, v_i1] * x2[T.int64(0), v_i1]

    @T.prim_func(private=True)
    def negative_inplace(x: T.Buffer((2, 3), "float32")):
        # with T.block("root"):
        for i0, i1 in T.grid(T.int64(2), T.int64(3)):
            with T.block("negative"):
                v_i0, v_i1 = T.axis.remap("SS", [i0, i1])
                T.reads(x[v_i0, v_i1])
                T.writes(x[v_i0, v_i1])
                x[v_i0, v_i1] = x[v_i0, v_i1] * T.float32(-1)

    @T.prim_func(private=True)
    def shift(x: T.Buffer((2, 3), "float32"), y: T.Buffer((2, 3), "float32")):
        # with T.block("root"):
        for i, j in T.grid(2, 3):
            with T.block("y"):
                vi, vj = T.axis.remap("SS", [i, j])
                T.reads(x[vi, (vj + 1) % 3])
                T.writes(y[vi, vj])
                y[vi, vj] = x[vi, (vj + 1) % 3]

    @T.prim_func(private=True)
    def silu(x: T.Buffer((2, 3), "float32"), y: T.Buffer((2, 3), "float32")):
        # with T.block("root"):
        s = T.alloc_buffer((2, 3))
        for i, j in T.grid(2, 3):
            with T.block("s"):
                vi, vj = T.axis.remap("SS", [i, j])
                T.reads(x[vi, vj])
                T.writes(s[vi, vj])
                s[vi, vj] = T.sigmoid(x[vi, vj])
        for i, j in T.grid(2, 3):
            with T.block("y"):
                vi, vj = T.axis.remap("SS", [i, j])
                T.reads(x[vi, vj], s[vi, vj])
                T.writes(y[vi, vj])
                y[vi, vj] = x[vi, vj] * s[vi, vj]

    @T.prim_func(private=True)
    def silu_inplace(x: T.Buffer((2, 3), "float32")):
        # with T.block("root"):
        s = T.alloc_buffer((2, 3))
        for i, j in T.grid(2, 3):
            with T.block("s"):
                vi, vj = T.axis.remap("SS", [i, j])
                T.reads(x[vi, vj])
                T.writes(s[vi, vj])
                s[vi, vj] = T.sigmoid(x[vi, vj])
        for i, j in T.grid(2, 3):
            with T.block("y"):
                vi, vj = T.axis.remap("SS", [i, j])
                T.reads(x[vi, vj], s[vi, vj])
                T.writes(x[vi, vj])
                x[vi, vj] = x[vi, vj] * s[vi, vj]

    @T.prim_func(private=True)
    def subtract_inplace(x1: T.Buffer((2, 3), "float32"), x2: T.Buffer((2, 3), "float32")):
        # with T.block("root"):
        for i0, i1 in T.grid(T.int64(2), T.int64(3)):
            with T.block("subtract"):
                v_i0, v_i1 = T.axis.remap("SS", [i0, i1])
                T.reads(x1[v_i0, v_i1], x2[v_i0, v_i1])
                T.writes(x2[v_i0, v_i1])
                x2[v_i0, v_i1] = x1[v_i0, v_i1] - x2[v_i0, v_i1]

    @R.function
    def main(x: R.Tensor((2, 3), dtype="float32"), y: R.Tensor((1, 3), dtype="float32")) -> R.Tuple(R.Tensor((2, 3), dtype="float32"), R.Tensor((2, 3), dtype="float32")):
        cls = Module
        with R.dataflow():
            z: R.Tensor((2, 3), dtype="float32") = R.add(x, y)
            a = R.call_tir_inplace(cls.multiply_inplace, (z, y), out_sinfo=R.Tensor((2, 3), dtype="float32"), inplace_indices=[0])
            b = R.call_tir(cls.shift, (a,), out_sinfo=R.Tensor((2, 3), dtype="float32"))
            c = R.call_tir_inplace(cls.silu_inplace, (b,), out_sinfo=R.Tensor((2, 3), dtype="float32"), inplace_indices=[0])
            d: R.Tensor((2, 3), dtype="float32") = R.add(c, c)
            e = R.call_tir_inplace(cls.subtract_inplace, (d, c), out_sinfo=R.Tensor((2, 3), dtype="float32"), inplace_indices=[1])
            f: R.Tensor((1, 3), dtype="float32") = R.subtract(y, y)
            g = R.call_tir_inplace(cls.add_inplace, (e, f), out_sinfo=R.Tensor((2, 3), dtype="float32"), inplace_indices=[0])
            h = R.call_tir_inplace(cls.negative_inplace, (d,), out_sinfo=R.Tensor((2, 3), dtype="float32"), inplace_indices=[0])
            R.output(g, h)
        return (g, h)

    @R.function
    def symbolic(x: R.Tensor(("n", "m"), dtype="float32"), y: R.Tensor(("n", "m"), dtype="float32")) -> R.Tensor(("n", "m"), dtype="float32"):
        m = T.int64()
        n = T.int64()
        cls = Module
        with R.dataflow():
            z: R.Tensor((n, m), dtype="float32") = R.add(x, y)
            b = R.call_tir_inplace(cls.exp_inplace, (z,), out_sinfo=R.Tensor((n, m), dtype="float32"), inplace_indices=[0])
            c = R.call_tir_inplace(cls.add_inplace1, (b, y), out_sinfo=R.Tensor((n, m), dtype="float32"), inplace_indices=[0])
            R.output(c)
        return c
