# test: pass
# run: to_non_dataflow, remove_purity_checking, call_tir_rewrite
# Memory stands before each call. An input that is overwritten and read again is copied; a tuple is passed by its elements, a scalar as it is, sizes last.

@I.ir_module
class Module:
    @T.prim_func(private=True)
    def scale(x: T.handle, a: T.float32, y: T.handle):
        n = T.int64()
        X = T.match_buffer(x, (n,), "float32")
        Y = T.match_buffer(y, (n,), "float32")
        for i in range(n):
            with T.block("Y"):
                vi = T.axis.spatial(n, i)
                Y[vi] = X[vi] * a

    @T.prim_func(private=True)
    def double(x: T.handle):
        n = T.int64()
        X = T.match_buffer(x, (n,), "float32")
        for i in range(n):
            with T.block("X"):
                vi = T.axis.spatial(n, i)
                X[vi] = X[vi] * T.float32(2)

    @T.prim_func(private=True)
    def both(x: T.handle, y: T.handle, s: T.handle, d: T.handle):
        n = T.int64()
        X = T.match_buffer(x, (n,), "float32")
        Y = T.match_buffer(y, (n,), "float32")
        S = T.match_buffer(s, (n,), "float32")
        D = T.match_buffer(d, (n,), "float32")
        for i in range(n):
            with T.block("S"):
                vi = T.axis.spatial(n, i)
                S[vi] = X[vi] + Y[vi]
        for i in range(n):
            with T.block("D"):
                vi = T.axis.spatial(n, i)
                D[vi] = X[vi] - Y[vi]

    @T.prim_func(private=True)
    def full(y: T.handle, n: T.int64):
        Y = T.match_buffer(y, (n,), "float32")
        for i in range(n):
            with T.block("Y"):
                vi = T.axis.spatial(n, i)
                Y[vi] = T.float32(3)

    @R.function
    def main(x: R.Tensor(("n",), "float32"), pair: R.Tuple(R.Tensor(("n",), "float32"), R.Tensor(("n",), "float32"))) -> R.Tuple(R.Tensor(("n",), "float32"), R.Tensor(("n",), "float32"), R.Tensor(("n",), "float32")):
        n = T.int64()
        cls = Module
        with R.dataflow():
            a = R.call_tir(cls.scale, (x, R.prim_value(T.float32(0.5))), out_ty=R.Tensor((n,), "float32"))
            b = R.call_tir_inplace(cls.double, (a,), inplace_indices=[0], out_ty=R.Tensor((n,), "float32"))
            c = R.call_tir(cls.both, (a, b), out_ty=[R.Tensor((n,), "float32"), R.Tensor((n,), "float32")])
            d = R.call_tir(cls.both, pair, out_ty=[R.Tensor((n,), "float32"), R.Tensor((n,), "float32")])
            e = d[0]
            f = R.call_tir_inplace(cls.double, (e,), inplace_indices=[0], out_ty=R.Tensor((n,), "float32"))
            g = c[1]
            h = R.call_tir(cls.full, (), out_ty=R.Tensor((n,), "float32"), tir_vars=R.shape([n]))
            R.output(f, g, h)
        return (f, g, h)
# expect:
# from tvm.script import ir as I
# from tvm.script import tir as T
# from tvm.script import relax as R

@I.ir_module
class Module:
    @T.prim_func(private=True)
    def both(x: T.handle, y: T.handle, s: T.handle, d: T.handle):
        n = T.int64()
        X = T.match_buffer(x, (n,))
        Y = T.match_buffer(y, (n,))
        S = T.match_buffer(s, (n,))
        D = T.match_buffer(d, (n,))
        # with T.block("root"):
        for i in range(n):
            with T.block("S"):
                vi = T.axis.spatial(n, i)
                T.reads(X[vi], Y[vi])
                T.writes(S[vi])
                S[vi] = X[vi] + Y[vi]
        for i in range(n):
            with T.block("D"):
                vi = T.axis.spatial(n, i)
                T.reads(X[vi], Y[vi])
                T.writes(D[vi])
                D[vi] = X[vi] - Y[vi]

    @T.prim_func(private=True)
    def double(x: T.handle):
        n = T.int64()
        X = T.match_buffer(x, (n,))
        # with T.block("root"):
        for i in range(n):
            with T.block("X"):
                vi = T.axis.spatial(n, i)
                T.reads(X[vi])
                T.writes(X[vi])
                X[vi] = X[vi] * T.float32(2)

    @T.prim_func(private=True)
    def full(y: T.handle, n: T.int64):
        Y = T.match_buffer(y, (n,))
        # with T.block("root"):
        for i in range(n):
            with T.block("Y"):
                vi = T.axis.spatial(n, i)
                T.reads()
                T.writes(Y[vi])
                Y[vi] = T.float32(3)

    @T.prim_func(private=True)
    def scale(x: T.handle, a: T.float32, y: T.handle):
        n = T.int64()
        X = T.match_buffer(x, (n,))
        Y = T.match_buffer(y, (n,))
        # with T.block("root"):
        for i in range(n):
            with T.block("Y"):
                vi = T.axis.spatial(n, i)
                T.reads(X[vi])
                T.writes(Y[vi])
                Y[vi] = X[vi] * a

    @R.function
    def main(x: R.Tensor(("n",), dtype="float32"), pair: R.Tuple(R.Tensor(("n",), dtype="float32"), R.Tensor(("n",), dtype="float32"))) -> R.Tuple(R.Tensor(("n",), dtype="float32"), R.Tensor(("n",), dtype="float32"), R.Tensor(("n",), dtype="float32")):
        n = T.int64()
        R.func_attr({"relax.force_pure": True})
        cls = Module
        alloc: R.Tensor((n,), dtype="float32") = R.builtin.alloc_tensor(R.shape([n]), R.dtype("float32"), R.prim_value(0), R.str("global"), sinfo_args=(R.Tensor((n,), dtype="float32"),))
        cls.scale(x, R.prim_value(T.float32(0.5)), alloc)
        a: R.Tensor((n,), dtype="float32") = alloc
        copy: R.Tensor((n,), dtype="float32") = R.call_pure_packed("vm.builtin.copy", a, sinfo_args=(R.Tensor((n,), dtype="float32"),))
        cls.double(copy)
        b: R.Tensor((n,), dtype="float32") = copy
        alloc_1: R.Tensor((n,), dtype="float32") = R.builtin.alloc_tensor(R.shape([n]), R.dtype("float32"), R.prim_value(0), R.str("global"), sinfo_args=(R.Tensor((n,), dtype="float32"),))
        alloc_2: R.Tensor((n,), dtype="float32") = R.builtin.alloc_tensor(R.shape([n]), R.dtype("float32"), R.prim_value(0), R.str("global"), sinfo_args=(R.Tensor((n,), dtype="float32"),))
        cls.both(a, b, alloc_1, alloc_2)
        c: R.Tuple(R.Tensor((n,), dtype="float32"), R.Tensor((n,), dtype="float32")) = (alloc_1, alloc_2)
        lv: R.Tensor((n,), dtype="float32") = pair[0]
        lv_1: R.Tensor((n,), dtype="float32") = pair[1]
        alloc_3: R.Tensor((n,), dtype="float32") = R.builtin.alloc_tensor(R.shape([n]), R.dtype("float32"), R.prim_value(0), R.str("global"), sinfo_args=(R.Tensor((n,), dtype="float32"),))
        alloc_4: R.Tensor((n,), dtype="float32") = R.builtin.alloc_tensor(R.shape([n]), R.dtype("float32"), R.prim_value(0), R.str("global"), sinfo_args=(R.Tensor((n,), dtype="float32"),))
        cls.both(lv, lv_1, alloc_3, alloc_4)
        d: R.Tuple(R.Tensor((n,), dtype="float32"), R.Tensor((n,), dtype="float32")) = (alloc_3, alloc_4)
        e: R.Tensor((n,), dtype="float32") = d[0]
        cls.double(e)
        f: R.Tensor((n,), dtype="float32") = e
        g: R.Tensor((n,), dtype="float32") = c[1]
        alloc_5: R.Tensor((n,), dtype="float32") = R.builtin.alloc_tensor(R.shape([n]), R.dtype("float32"), R.prim_value(0), R.str("global"), sinfo_args=(R.Tensor((n,), dtype="float32"),))
        R.vm.call_tir_dyn(cls.full, (alloc_5, R.shape([n])))
        h: R.Tensor((n,), dtype="float32") = alloc_5
        return (f, g, h)
