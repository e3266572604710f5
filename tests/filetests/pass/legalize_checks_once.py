# test: pass
# run: legalize_ops
# What operators ask of extents is checked once where the first check comes before all others, and again in another branch.
# A value that is declared to be less than what is known of it then has the extents that are known.

@I.ir_module
class Module:
    @R.function
    def main(x: R.Tensor(("n",), "float32"), y: R.Tensor(("m",), "float32"), z: R.Tensor(("k",), "float32"), c: R.Tensor((), "bool")):
        n, m, k = T.int64(), T.int64(), T.int64()
        a: R.Tensor(dtype="float32", ndim=1) = R.add(x, y)
        b = R.multiply(x, y)
        if c:
            p = R.add(x, z)
            q = R.multiply(x, z)
            r = q
        else:
            s = R.add(x, z)
            r = s
        d = R.add(a, b)
        return d
# expect:
# from tvm.script import ir as I
# from tvm.script import tir as T
# from tvm.script import relax as R

@I.ir_module
class Module:
    @T.prim_func(private=True)
    def add(var_x1: T.handle, var_x2: T.handle, var_add: T.handle):
        n = T.int64()
        x1 = T.match_buffer(var_x1, (n,))
        m = T.int64()
        x2 = T.match_buffer(var_x2, (m,))
        add = T.match_buffer(var_add, (n,))
        # with T.block("root"):
        for i0 in range(n):
            with T.block("add"):
                v_i0 = T.axis.spatial(n, i0)
                T.reads(x1[v_i0], x2[v_i0])
                T.writes(add[v_i0])
                add[v_i0] = x1[v_i0] + x2[v_i0]

    @T.prim_func(private=True)
    def add1(var_x1: T.handle, var_x2: T.handle, var_add: T.handle):
        n = T.int64()
        x1 = T.match_buffer(var_x1, (n,))
        x2 = T.match_buffer(var_x2, (n,))
        add = T.match_buffer(var_add, (n,))
        # with T.block("root"):
        for i0 in range(n):
            with T.block("add"):
                v_i0 = T.axis.spatial(n, i0)
                T.reads(x1[v_i0], x2[v_i0])
                T.writes(add[v_i0])
                add[v_i0] = x1[v_i0] + x2[v_i0]

    @T.prim_func(private=True)
    def multiply(var_x1: T.handle, var_x2: T.handle, var_multiply: T.handle):
        n = T.int64()
        x1 = T.match_buffer(var_x1, (n,))
        m = T.int64()
        x2 = T.match_buffer(var_x2, (m,))
        multiply = T.match_buffer(var_multiply, (n,))
        # with T.block("root"):
        for i0 in range(n):
            with T.block("multiply"):
                v_i0 = T.axis.spatial(n, i0)
                T.reads(x1[v_i0], x2[v_i0])
                T.writes(multiply[v_i0])
                multiply[v_i0] = x1[v_i0] * x2[v_i0]

    @R.function
    def main(x: R.Tensor(("n",), dtype="float32"), y: R.Tensor(("m",), dtype="float32"), z: R.Tensor(("k",), dtype="float32"), c: R.Tensor((), dtype="bool")) -> R.Tensor(dtype="float32", ndim=1):
        k = T.int64()
        m = T.int64()
        n = T.int64()
        cls = Module
        m_in_R_add__extents_that_broadcast_: R.Prim(value=n) = R.match_cast(R.prim_value(m), R.Prim(value=n))
        a = R.call_tir(cls.add, (x, y), out_sinfo=R.Tensor((n,), dtype="float32"))
        b = R.call_tir(cls.multiply, (x, y), out_sinfo=R.Tensor((n,), dtype="float32"))
        if c:
            k_in_R_add__extents_that_broadcast_: R.Prim(value=n) = R.match_cast(R.prim_value(k), R.Prim(value=n))
            p = R.call_tir(cls.add, (x, z), out_sinfo=R.Tensor((n,), dtype="float32"))
            q = R.call_tir(cls.multiply, (x, z), out_sinfo=R.Tensor((n,), dtype="float32"))
            r: R.Tensor((n,), dtype="float32") = q
        else:
            k_in_R_add__extents_that_broadcast__1: R.Prim(value=n) = R.match_cast(R.prim_value(k), R.Prim(value=n))
            s = R.call_tir(cls.add, (x, z), out_sinfo=R.Tensor((n,), dtype="float32"))
            r: R.Tensor((n,), dtype="float32") = s
        d = R.call_tir(cls.add1, (a, b), out_sinfo=R.Tensor((n,), dtype="float32"))
        return d
