# test: pass
# run: legalize_ops, to_non_dataflow, remove_purity_checking, call_tir_rewrite, static_plan_block_memory
# `d` goes where `a` was, also if it is larger; what is given back and what a closure keeps is not shared; a view keeps the memory of its tensor; branches share what is made before them.

@I.ir_module
class Module:
    @R.function
    def chain(x: R.Tensor((4, 8), "float32")) -> R.Tensor((4, 8), "float32"):
        with R.dataflow():
            a = R.exp(x)
            b = R.reshape(a, (32,))
            c = R.negative(b)
            d = R.concat([c, c], axis=0)
            e = R.tanh(d)
            f = R.strided_slice(e, axes=[0], begin=[0], end=[32])
            g = R.reshape(f, (4, 8))
            h = R.abs(g)
            R.output(h)
        return h

    @R.function
    def sizes(x: R.Tensor(("n", 8), "float32")) -> R.Tensor(("n", 8), "float32"):
        R.func_attr({"tir_var_upper_bound": {"n": 16}})
        with R.dataflow():
            a = R.exp(x)
            b = R.tanh(a)
            c = R.nn.relu(b)
            d = R.exp(c)
            R.output(d)
        return d

    @R.function
    def symbolic(x: R.Tensor(("n", "m"), "float32")) -> R.Tensor(("n", "m"), "float16"):
        with R.dataflow():
            a = R.exp(x)
            b = R.astype(a, "float16")
            c = R.astype(b, "float32")
            d = R.astype(c, "float16")
            e = R.negative(d)
            R.output(e)
        return e

    @R.function(pure=False)
    def branches(x: R.Tensor((8,), "float32"), c: R.Tensor((), "bool")) -> R.Tensor((8,), "float32"):
        a = R.exp(x)
        b = R.negative(a)
        if c:
            d = R.tanh(b)
            e = R.abs(d)
            r = R.negative(e)
        else:
            f = R.exp(b)
            r = R.tanh(f)
        g = R.add(r, x)
        return g

    @R.function
    def kept(x: R.Tensor((8,), "float32")) -> R.Tensor((8,), "float32"):
        a = R.exp(x)

        @R.function
        def add_a(y: R.Tensor((8,), "float32")) -> R.Tensor((8,), "float32"):
            s = R.add(y, a)
            t = R.negative(s)
            u = R.tanh(t)
            v = R.abs(u)
            return v

        b = R.negative(x)
        c = R.tanh(b)
        d = add_a(c)
        return d
# expect:
# from tvm.script import ir as I
# from tvm.script import tir as T
# from tvm.script import relax as R

@I.ir_module
class Module:
    @T.prim_func(private=True)
    def abs(x: T.Buffer((4, 8), "float32"), abs: T.Buffer((4, 8), "float32")):
        # with T.block("root"):
        for i0, i1 in T.grid(T.int64(4), T.int64(8)):
            with T.block("abs"):
                v_i0, v_i1 = T.axis.remap("SS", [i0, i1])
                T.reads(x[v_i0, v_i1])
                T.writes(abs[v_i0, v_i1])
                abs[v_i0, v_i1] = T.abs(x[v_i0, v_i1])

    @T.prim_func(private=True)
    def abs1(x: T.Buffer((8,), "float32"), abs: T.Buffer((8,), "float32")):
        # with T.block("root"):
        for i0 in range(T.int64(8)):
            with T.block("abs"):
                v_i0 = T.axis.spatial(T.int64(8), i0)
                T.reads(x[v_i0])
                T.writes(abs[v_i0])
                abs[v_i0] = T.abs(x[v_i0])

    @T.prim_func(private=True)
    def add(x1: T.Buffer((8,), "float32"), x2: T.Buffer((8,), "float32"), add: T.Buffer((8,), "float32")):
        # with T.block("root"):
        for i0 in range(T.int64(8)):
            with T.block("add"):
                v_i0 = T.axis.spatial(T.int64(8), i0)
                T.reads(x1[v_i0], x2[v_i0])
                T.writes(add[v_i0])
                add[v_i0] = x1[v_i0] + x2[v_i0]

    @T.prim_func(private=True)
    def astype(var_x: T.handle, var_astype: T.handle):
        n, m = T.int64(), T.int64()
        x = T.match_buffer(var_x, (n, m))
        astype = T.match_buffer(var_astype, (n, m), "float16")
        # with T.block("root"):
        for i0, i1 in T.grid(n, m):
            with T.block("astype"):
                v_i0, v_i1 = T.axis.remap("SS", [i0, i1])
                T.reads(x[v_i0, v_i1])
                T.writes(astype[v_i0, v_i1])
                astype[v_i0, v_i1] = T.Cast("float16", x[v_i0, v_i1])

    @T.prim_func(private=True)
    def astype1(var_x: T.handle, var_astype: T.handle):
        n, m = T.int64(), T.int64()
        x = T.match_buffer(var_x, (n, m), "float16")
        astype = T.match_buffer(var_astype, (n, m))
        # with T.block("root"):
        for i0, i1 in T.grid(n, m):
            with T.block("astype"):
                v_i0, v_i1 = T.axis.remap("SS", [i0, i1])
                T.reads(x[v_i0, v_i1])
                T.writes(astype[v_i0, v_i1])
                astype[v_i0, v_i1] = T.Cast("float32", x[v_i0, v_i1])

    @T.prim_func(private=True)
    def concat(tensors_0: T.Buffer((32,), "float32"), tensors_1: T.Buffer((32,), "float32"), concat: T.Buffer((64,), "float32")):
        # with T.block("root"):
        for i0 in range(T.int64(64)):
            with T.block("concat"):
                v_i0 = T.axis.spatial(T.int64(64), i0)
                T.reads(tensors_0[v_i0], tensors_1[v_i0 - T.int64(32)])
                T.writes(concat[v_i0])
                concat[v_i0] = T.if_then_else(v_i0 < T.int64(32), tensors_0[v_i0], tensors_1[v_i0 - T.int64(32)])

    @T.prim_func(private=True)
    def exp(x: T.Buffer((4, 8), "float32"), exp: T.Buffer((4, 8), "float32")):
        # with T.block("root"):
        for i0, i1 in T.grid(T.int64(4), T.int64(8)):
            with T.block("exp"):
                v_i0, v_i1 = T.axis.remap("SS", [i0, i1])
                T.reads(x[v_i0, v_i1])
                T.writes(exp[v_i0, v_i1])
                exp[v_i0, v_i1] = T.exp(x[v_i0, v_i1])

    @T.prim_func(private=True)
    def exp1(var_x: T.handle, var_exp: T.handle):
        n = T.int64()
        x = T.match_buffer(var_x, (n, 8))
        exp = T.match_buffer(var_exp, (n, 8))
        # with T.block("root"):
        for i0, i1 in T.grid(n, T.int64(8)):
            with T.block("exp"):
                v_i0, v_i1 = T.axis.remap("SS", [i0, i1])
                T.reads(x[v_i0, v_i1])
                T.writes(exp[v_i0, v_i1])
                exp[v_i0, v_i1] = T.exp(x[v_i0, v_i1])

    @T.prim_func(private=True)
    def exp2(var_x: T.handle, var_exp: T.handle):
        n, m = T.int64(), T.int64()
        x = T.match_buffer(var_x, (n, m))
        exp = T.match_buffer(var_exp, (n, m))
        # with T.block("root"):
        for i0, i1 in T.grid(n, m):
            with T.block("exp"):
                v_i0, v_i1 = T.axis.remap("SS", [i0, i1])
                T.reads(x[v_i0, v_i1])
                T.writes(exp[v_i0, v_i1])
                exp[v_i0, v_i1] = T.exp(x[v_i0, v_i1])

    @T.prim_func(private=True)
    def exp3(x: T.Buffer((8,), "float32"), exp: T.Buffer((8,), "float32")):
        # with T.block("root"):
        for i0 in range(T.int64(8)):
            with T.block("exp"):
                v_i0 = T.axis.spatial(T.int64(8), i0)
                T.reads(x[v_i0])
                T.writes(exp[v_i0])
                exp[v_i0] = T.exp(x[v_i0])

    @T.prim_func(private=True)
    def negative(x: T.Buffer((32,), "float32"), negative: T.Buffer((32,), "float32")):
        # with T.block("root"):
        for i0 in range(T.int64(32)):
            with T.block("negative"):
                v_i0 = T.axis.spatial(T.int64(32), i0)
                T.reads(x[v_i0])
                T.writes(negative[v_i0])
                negative[v_i0] = x[v_i0] * T.float32(-1)

    @T.prim_func(private=True)
    def negative1(var_x: T.handle, var_negative: T.handle):
        n, m = T.int64(), T.int64()
        x = T.match_buffer(var_x, (n, m), "float16")
        negative = T.match_buffer(var_negative, (n, m), "float16")
        # with T.block("root"):
        for i0, i1 in T.grid(n, m):
            with T.block("negative"):
                v_i0, v_i1 = T.axis.remap("SS", [i0, i1])
                T.reads(x[v_i0, v_i1])
                T.writes(negative[v_i0, v_i1])
                negative[v_i0, v_i1] = x[v_i0, v_i1] * T.float16(-1)

    @T.prim_func(private=True)
    def negative2(x: T.Buffer((8,), "float32"), negative: T.Buffer((8,), "float32")):
        # with T.block("root"):
        for i0 in range(T.int64(8)):
            with T.block("negative"):
                v_i0 = T.axis.spatial(T.int64(8), i0)
                T.reads(x[v_i0])
                T.writes(negative[v_i0])
                negative[v_i0] = x[v_i0] * T.float32(-1)

    @T.prim_func(private=True)
    def relu(var_x: T.handle, var_relu: T.handle):
        n = T.int64()
        x = T.match_buffer(var_x, (n, 8))
        relu = T.match_buffer(var_relu, (n, 8))
        # with T.block("root"):
        for i0, i1 in T.grid(n, T.int64(8)):
            with T.block("relu"):
                v_i0, v_i1 = T.axis.remap("SS", [i0, i1])
                T.reads(x[v_i0, v_i1])
                T.writes(relu[v_i0, v_i1])
                relu[v_i0, v_i1] = T.max(x[v_i0, v_i1], T.float32(0))

    @T.prim_func(private=True)
    def reshape(x: T.Buffer((4, 8), "float32"), reshape: T.Buffer((32,), "float32")):
        # with T.block("root"):
        for i0 in range(T.int64(32)):
            with T.block("reshape"):
                v_i0 = T.axis.spatial(T.int64(32), i0)
                T.reads(x[v_i0 // T.int64(8), v_i0 % T.int64(8)])
                T.writes(reshape[v_i0])
                reshape[v_i0] = x[v_i0 // T.int64(8), v_i0 % T.int64(8)]

    @T.prim_func(private=True)
    def reshape1(x: T.Buffer((32,), "float32"), reshape: T.Buffer((4, 8), "float32")):
        # with T.block("root"):
        for i0, i1 in T.grid(T.int64(4), T.int64(8)):
            with T.block("reshape"):
                v_i0, v_i1 = T.axis.remap("SS", [i0, i1])
                T.reads(x[v_i0 * T.int64(8) + v_i1])
                T.writes(reshape[v_i0, v_i1])
                reshape[v_i0, v_i1] = x[v_i0 * T.int64(8) + v_i1]

    @T.prim_func(private=True)
    def strided_slice(x: T.Buffer((64,), "float32"), strided_slice: T.Buffer((32,), "float32")):
        # with T.block("root"):
        for i0 in range(T.int64(32)):
            with T.block("strided_slice"):
                v_i0 = T.axis.spatial(T.int64(32), i0)
                T.reads(x[v_i0 + T.int64(0)])
                T.writes(strided_slice[v_i0])
                strided_slice[v_i0] = x[v_i0 + T.int64(0)]

    @T.prim_func(private=True)
    def tanh(x: T.Buffer((64,), "float32"), tanh: T.Buffer((64,), "float32")):
        # with T.block("root"):
        for i0 in range(T.int64(64)):
            with T.block("tanh"):
                v_i0 = T.axis.spatial(T.int64(64), i0)
                T.reads(x[v_i0])
                T.writes(tanh[v_i0])
                tanh[v_i0] = T.tanh(x[v_i0])

    @T.prim_func(private=True)
    def tanh1(var_x: T.handle, var_tanh: T.handle):
        n = T.int64()
        x = T.match_buffer(var_x, (n, 8))
        tanh = T.match_buffer(var_tanh, (n, 8))
        # with T.block("root"):
        for i0, i1 in T.grid(n, T.int64(8)):
            with T.block("tanh"):
                v_i0, v_i1 = T.axis.remap("SS", [i0, i1])
                T.reads(x[v_i0, v_i1])
                T.writes(tanh[v_i0, v_i1])
                tanh[v_i0, v_i1] = T.tanh(x[v_i0, v_i1])

    @T.prim_func(private=True)
    def tanh2(x: T.Buffer((8,), "float32"), tanh: T.Buffer((8,), "float32")):
        # with T.block("root"):
        for i0 in range(T.int64(8)):
            with T.block("tanh"):
                v_i0 = T.axis.spatial(T.int64(8), i0)
                T.reads(x[v_i0])
                T.writes(tanh[v_i0])
                tanh[v_i0] = T.tanh(x[v_i0])

    @R.function(pure=False)
    def branches(x: R.Tensor((8,), dtype="float32"), c: R.Tensor((), dtype="bool")) -> R.Tensor((8,), dtype="float32"):
        cls = Module
        storage: R.Object = R.memory.alloc_storage(R.shape([32]), R.prim_value(0), R.str("global"), R.dtype("float32"))
        alloc: R.Tensor((8,), dtype="float32") = R.memory.alloc_tensor(storage, R.prim_value(0), R.shape([8]), R.dtype("float32"), R.prim_value(0))
        cls.exp3(x, alloc)
        a: R.Tensor((8,), dtype="float32") = alloc
        storage_1: R.Object = R.memory.alloc_storage(R.shape([32]), R.prim_value(0), R.str("global"), R.dtype("float32"))
        alloc_1: R.Tensor((8,), dtype="float32") = R.memory.alloc_tensor(storage_1, R.prim_value(0), R.shape([8]), R.dtype("float32"), R.prim_value(0))
        cls.negative2(a, alloc_1)
        b: R.Tensor((8,), dtype="float32") = alloc_1
        if c:
            alloc_2: R.Tensor((8,), dtype="float32") = R.memory.alloc_tensor(storage, R.prim_value(0), R.shape([8]), R.dtype("float32"), R.prim_value(0))
            cls.tanh2(b, alloc_2)
            d: R.Tensor((8,), dtype="float32") = alloc_2
            storage_2: R.Object = R.memory.alloc_storage(R.shape([32]), R.prim_value(0), R.str("global"), R.dtype("float32"))
            alloc_3: R.Tensor((8,), dtype="float32") = R.memory.alloc_tensor(storage_2, R.prim_value(0), R.shape([8]), R.dtype("float32"), R.prim_value(0))
            cls.abs1(d, alloc_3)
            e: R.Tensor((8,), dtype="float32") = alloc_3
            alloc_4: R.Tensor((8,), dtype="float32") = R.memory.alloc_tensor(storage, R.prim_value(0), R.shape([8]), R.dtype("float32"), R.prim_value(0))
            cls.negative2(e, alloc_4)
            r_then: R.Tensor((8,), dtype="float32") = alloc_4
            r: R.Tensor((8,), dtype="float32") = r_then
        else:
            storage_3: R.Object = R.memory.alloc_storage(R.shape([32]), R.prim_value(0), R.str("global"), R.dtype("float32"))
            alloc_5: R.Tensor((8,), dtype="float32") = R.memory.alloc_tensor(storage_3, R.prim_value(0), R.shape([8]), R.dtype("float32"), R.prim_value(0))
            cls.exp3(b, alloc_5)
            f: R.Tensor((8,), dtype="float32") = alloc_5
            alloc_6: R.Tensor((8,), dtype="float32") = R.memory.alloc_tensor(storage_1, R.prim_value(0), R.shape([8]), R.dtype("float32"), R.prim_value(0))
            cls.tanh2(f, alloc_6)
            r_else: R.Tensor((8,), dtype="float32") = alloc_6
            r: R.Tensor((8,), dtype="float32") = r_else
        alloc_7: R.Tensor((8,), dtype="float32") = R.builtin.alloc_tensor(R.shape([8]), R.dtype("float32"), R.prim_value(0), R.str("global"), sinfo_args=(R.Tensor((8,), dtype="float32"),))
        cls.add(r, x, alloc_7)
        g: R.Tensor((8,), dtype="float32") = alloc_7
        return g

    @R.function
    def chain(x: R.Tensor((4, 8), dtype="float32")) -> R.Tensor((4, 8), dtype="float32"):
        R.func_attr({"relax.force_pure": True})
        cls = Module
        storage: R.Object = R.memory.alloc_storage(R.shape([256]), R.prim_value(0), R.str("global"), R.dtype("float32"))
        alloc: R.Tensor((4, 8), dtype="float32") = R.memory.alloc_tensor(storage, R.prim_value(0), R.shape([4, 8]), R.dtype("float32"), R.prim_value(0))
        cls.exp(x, alloc)
        a: R.Tensor((4, 8), dtype="float32") = alloc
        storage_1: R.Object = R.memory.alloc_storage(R.shape([256]), R.prim_value(0), R.str("global"), R.dtype("float32"))
        alloc_1: R.Tensor((32,), dtype="float32") = R.memory.alloc_tensor(storage_1, R.prim_value(0), R.shape([32]), R.dtype("float32"), R.prim_value(0))
        cls.reshape(a, alloc_1)
        b: R.Tensor((32,), dtype="float32") = alloc_1
        alloc_2: R.Tensor((32,), dtype="float32") = R.memory.alloc_tensor(storage, R.prim_value(0), R.shape([32]), R.dtype("float32"), R.prim_value(0))
        cls.negative(b, alloc_2)
        c: R.Tensor((32,), dtype="float32") = alloc_2
        alloc_3: R.Tensor((64,), dtype="float32") = R.memory.alloc_tensor(storage_1, R.prim_value(0), R.shape([64]), R.dtype("float32"), R.prim_value(0))
        cls.concat(c, c, alloc_3)
        d: R.Tensor((64,), dtype="float32") = alloc_3
        alloc_4: R.Tensor((64,), dtype="float32") = R.memory.alloc_tensor(storage, R.prim_value(0), R.shape([64]), R.dtype("float32"), R.prim_value(0))
        cls.tanh(d, alloc_4)
        e: R.Tensor((64,), dtype="float32") = alloc_4
        alloc_5: R.Tensor((32,), dtype="float32") = R.memory.alloc_tensor(storage_1, R.prim_value(0), R.shape([32]), R.dtype("float32"), R.prim_value(0))
        cls.strided_slice(e, alloc_5)
        f: R.Tensor((32,), dtype="float32") = alloc_5
        alloc_6: R.Tensor((4, 8), dtype="float32") = R.memory.alloc_tensor(storage, R.prim_value(0), R.shape([4, 8]), R.dtype("float32"), R.prim_value(0))
        cls.reshape1(f, alloc_6)
        g: R.Tensor((4, 8), dtype="float32") = alloc_6
        alloc_7: R.Tensor((4, 8), dtype="float32") = R.builtin.alloc_tensor(R.shape([4, 8]), R.dtype("float32"), R.prim_value(0), R.str("global"), sinfo_args=(R.Tensor((4, 8), dtype="float32"),))
        cls.abs(g, alloc_7)
        h: R.Tensor((4, 8), dtype="float32") = alloc_7
        return h

    @R.function
    def kept(x: R.Tensor((8,), dtype="float32")) -> R.Tensor((8,), dtype="float32"):
        R.func_attr({"relax.force_pure": True})
        cls = Module
        alloc: R.Tensor((8,), dtype="float32") = R.builtin.alloc_tensor(R.shape([8]), R.dtype("float32"), R.prim_value(0), R.str("global"), sinfo_args=(R.Tensor((8,), dtype="float32"),))
        cls.exp3(x, alloc)
        a: R.Tensor((8,), dtype="float32") = alloc
        @R.function
        def add_a(y: R.Tensor((8,), dtype="float32")) -> R.Tensor((8,), dtype="float32"):
            R.func_attr({"relax.force_pure": True})
            storage: R.Object = R.memory.alloc_storage(R.shape([32]), R.prim_value(0), R.str("global"), R.dtype("float32"))
            alloc_1: R.Tensor((8,), dtype="float32") = R.memory.alloc_tensor(storage, R.prim_value(0), R.shape([8]), R.dtype("float32"), R.prim_value(0))
            cls.add(y, a, alloc_1)
            s: R.Tensor((8,), dtype="float32") = alloc_1
            storage_1: R.Object = R.memory.alloc_storage(R.shape([32]), R.prim_value(0), R.str("global"), R.dtype("float32"))
            alloc_2: R.Tensor((8,), dtype="float32") = R.memory.alloc_tensor(storage_1, R.prim_value(0), R.shape([8]), R.dtype("float32"), R.prim_value(0))
            cls.negative2(s, alloc_2)
            t: R.Tensor((8,), dtype="float32") = alloc_2
            alloc_3: R.Tensor((8,), dtype="float32") = R.memory.alloc_tensor(storage, R.prim_value(0), R.shape([8]), R.dtype("float32"), R.prim_value(0))
            cls.tanh2(t, alloc_3)
            u: R.Tensor((8,), dtype="float32") = alloc_3
            alloc_4: R.Tensor((8,), dtype="float32") = R.memory.alloc_tensor(storage_1, R.prim_value(0), R.shape([8]), R.dtype("float32"), R.prim_value(0))
            cls.abs1(u, alloc_4)
            v: R.Tensor((8,), dtype="float32") = alloc_4
            return v
        storage: R.Object = R.memory.alloc_storage(R.shape([32]), R.prim_value(0), R.str("global"), R.dtype("float32"))
        alloc_1: R.Tensor((8,), dtype="float32") = R.memory.alloc_tensor(storage, R.prim_value(0), R.shape([8]), R.dtype("float32"), R.prim_value(0))
        cls.negative2(x, alloc_1)
        b: R.Tensor((8,), dtype="float32") = alloc_1
        alloc_2: R.Tensor((8,), dtype="float32") = R.builtin.alloc_tensor(R.shape([8]), R.dtype("float32"), R.prim_value(0), R.str("global"), sinfo_args=(R.Tensor((8,), dtype="float32"),))
        cls.tanh2(b, alloc_2)
        c: R.Tensor((8,), dtype="float32") = alloc_2
        d: R.Tensor((8,), dtype="float32") = add_a(c)
        return d

    @R.function
    def sizes(x: R.Tensor(("n", 8), dtype="float32")) -> R.Tensor(("n", 8), dtype="float32"):
        n = T.int64()
        R.func_attr({"tir_var_upper_bound": {"n": 16}, "relax.force_pure": True})
        cls = Module
        storage: R.Object = R.memory.alloc_storage(R.shape([512]), R.prim_value(0), R.str("global"), R.dtype("float32"))
        alloc: R.Tensor((n, 8), dtype="float32") = R.memory.alloc_tensor(storage, R.prim_value(0), R.shape([n, 8]), R.dtype("float32"), R.prim_value(0))
        cls.exp1(x, alloc)
        a: R.Tensor((n, 8), dtype="float32") = alloc
        storage_1: R.Object = R.memory.alloc_storage(R.shape([512]), R.prim_value(0), R.str("global"), R.dtype("float32"))
        alloc_1: R.Tensor((n, 8), dtype="float32") = R.memory.alloc_tensor(storage_1, R.prim_value(0), R.shape([n, 8]), R.dtype("float32"), R.prim_value(0))
        cls.tanh1(a, alloc_1)
        b: R.Tensor((n, 8), dtype="float32") = alloc_1
        alloc_2: R.Tensor((n, 8), dtype="float32") = R.memory.alloc_tensor(storage, R.prim_value(0), R.shape([n, 8]), R.dtype("float32"), R.prim_value(0))
        cls.relu(b, alloc_2)
        c: R.Tensor((n, 8), dtype="float32") = alloc_2
        alloc_3: R.Tensor((n, 8), dtype="float32") = R.builtin.alloc_tensor(R.shape([n, 8]), R.dtype("float32"), R.prim_value(0), R.str("global"), sinfo_args=(R.Tensor((n, 8), dtype="float32"),))
        cls.exp1(c, alloc_3)
        d: R.Tensor((n, 8), dtype="float32") = alloc_3
        return d

    @R.function
    def symbolic(x: R.Tensor(("n", "m"), dtype="float32")) -> R.Tensor(("n", "m"), dtype="float16"):
        m = T.int64()
        n = T.int64()
        R.func_attr({"relax.force_pure": True})
        cls = Module
        storage: R.Object = R.memory.alloc_storage(R.shape([4 * (m * n)]), R.prim_value(0), R.str("global"), R.dtype("float32"))
        alloc: R.Tensor((n, m), dtype="float32") = R.memory.alloc_tensor(storage, R.prim_value(0), R.shape([n, m]), R.dtype("float32"), R.prim_value(0))
        cls.exp2(x, alloc)
        a: R.Tensor((n, m), dtype="float32") = alloc
        storage_1: R.Object = R.memory.alloc_storage(R.shape([2 * (m * n)]), R.prim_value(0), R.str("global"), R.dtype("float16"))
        alloc_1: R.Tensor((n, m), dtype="float16") = R.memory.alloc_tensor(storage_1, R.prim_value(0), R.shape([n, m]), R.dtype("float16"), R.prim_value(0))
        cls.astype(a, alloc_1)
        b: R.Tensor((n, m), dtype="float16") = alloc_1
        alloc_2: R.Tensor((n, m), dtype="float32") = R.memory.alloc_tensor(storage, R.prim_value(0), R.shape([n, m]), R.dtype("float32"), R.prim_value(0))
        cls.astype1(b, alloc_2)
        c: R.Tensor((n, m), dtype="float32") = alloc_2
        alloc_3: R.Tensor((n, m), dtype="float16") = R.memory.alloc_tensor(storage_1, R.prim_value(0), R.shape([n, m]), R.dtype("float16"), R.prim_value(0))
        cls.astype(c, alloc_3)
        d: R.Tensor((n, m), dtype="float16") = alloc_3
        alloc_4: R.Tensor((n, m), dtype="float16") = R.builtin.alloc_tensor(R.shape([n, m]), R.dtype("float16"), R.prim_value(0), R.str("global"), sinfo_args=(R.Tensor((n, m), dtype="float16"),))
        cls.negative1(d, alloc_4)
        e: R.Tensor((n, m), dtype="float16") = alloc_4
        return e
