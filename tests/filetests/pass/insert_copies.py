# test: pass
# run: realize_vdevice, legalize_ops, to_non_dataflow, bind_target, insert_copies
# `a` goes to the host once for two programs, `c` comes back once. A parameter is on the device, whatever its type says. What one branch computes on the host and the other does not is where the type of the whole says.

@I.ir_module
class Module:
    I.module_global_infos({"vdevice": [I.vdevice("llvm", 0), I.vdevice("vulkan", 0)]})

    @R.function
    def main(x: R.Tensor((4,), "float32", "vulkan:0"), w: R.Tensor((4,), "float32", "llvm:0")) -> R.Tensor((4,), "float32", "vulkan:0"):
        with R.dataflow():
            a = R.exp(x)
            b = R.to_vdevice(a, "llvm:0")
            c = R.multiply(R.exp(b), R.add(b, w))
            d = R.to_vdevice(c, "vulkan:0")
            e = R.add(R.negative(d), R.exp(d))
            R.output(e)
        return e

    @R.function
    def branches(x: R.Tensor((4,), "float32", "vulkan:0"), p: R.Tensor((), "bool")) -> R.Tensor((4,), "float32", "vulkan:0"):
        if p:
            a = R.to_vdevice(x, "llvm:0")
            b = R.exp(a)
            c = R.to_vdevice(b, "vulkan:0")
        else:
            c = R.negative(x)
        return c
# expect:
# from tvm.script import ir as I
# from tvm.script import tir as T
# from tvm.script import relax as R

@I.ir_module
class Module:
    I.module_global_infos({"vdevice": [I.vdevice("llvm", 0, "global"), I.vdevice("vulkan", 0, "global")]})
    @T.prim_func(private=True)
    def add(x1: T.Buffer((4,), "float32"), x2: T.Buffer((4,), "float32"), add: T.Buffer((4,), "float32")):
        # with T.block("root"):
        for i0 in range(T.int64(4)):
            with T.block("add"):
                v_i0 = T.axis.spatial(T.int64(4), i0)
                T.reads(x1[v_i0], x2[v_i0])
                T.writes(add[v_i0])
                add[v_i0] = x1[v_i0] + x2[v_i0]

    @T.prim_func(private=True)
    def add_host(x1: T.Buffer((4,), "float32"), x2: T.Buffer((4,), "float32"), add: T.Buffer((4,), "float32")):
        T.func_attr({"tirx.is_host_func": True})
        # with T.block("root"):
        for i0 in range(T.int64(4)):
            with T.block("add"):
                v_i0 = T.axis.spatial(T.int64(4), i0)
                T.reads(x1[v_i0], x2[v_i0])
                T.writes(add[v_i0])
                add[v_i0] = x1[v_i0] + x2[v_i0]

    @T.prim_func(private=True)
    def exp(x: T.Buffer((4,), "float32"), exp: T.Buffer((4,), "float32")):
        # with T.block("root"):
        for i0 in range(T.int64(4)):
            with T.block("exp"):
                v_i0 = T.axis.spatial(T.int64(4), i0)
                T.reads(x[v_i0])
                T.writes(exp[v_i0])
                exp[v_i0] = T.exp(x[v_i0])

    @T.prim_func(private=True)
    def exp_host(x: T.Buffer((4,), "float32"), exp: T.Buffer((4,), "float32")):
        T.func_attr({"tirx.is_host_func": True})
        # with T.block("root"):
        for i0 in range(T.int64(4)):
            with T.block("exp"):
                v_i0 = T.axis.spatial(T.int64(4), i0)
                T.reads(x[v_i0])
                T.writes(exp[v_i0])
                exp[v_i0] = T.exp(x[v_i0])

    @T.prim_func(private=True)
    def multiply_host(x1: T.Buffer((4,), "float32"), x2: T.Buffer((4,), "float32"), multiply: T.Buffer((4,), "float32")):
        T.func_attr({"tirx.is_host_func": True})
        # with T.block("root"):
        for i0 in range(T.int64(4)):
            with T.block("multiply"):
                v_i0 = T.axis.spatial(T.int64(4), i0)
                T.reads(x1[v_i0], x2[v_i0])
                T.writes(multiply[v_i0])
                multiply[v_i0] = x1[v_i0] * x2[v_i0]

    @T.prim_func(private=True)
    def negative(x: T.Buffer((4,), "float32"), negative: T.Buffer((4,), "float32")):
        # with T.block("root"):
        for i0 in range(T.int64(4)):
            with T.block("negative"):
                v_i0 = T.axis.spatial(T.int64(4), i0)
                T.reads(x[v_i0])
                T.writes(negative[v_i0])
                negative[v_i0] = x[v_i0] * T.float32(-1)

    @R.function
    def branches(x: R.Tensor((4,), dtype="float32", vdevice="vulkan:0:global"), p: R.Tensor((), dtype="bool", vdevice="vulkan:0:global")) -> R.Tensor((4,), dtype="float32", vdevice="vulkan:0:global"):
        cls = Module
        x_1: R.Tensor((4,), dtype="float32", vdevice="llvm:0:global") = R.call_pure_packed("vm.builtin.to_host", x, sinfo_args=(R.Tensor((4,), dtype="float32", vdevice="llvm:0:global"),))
        if p:
            a: R.Tensor((4,), dtype="float32", vdevice="llvm:0:global") = x_1
            b = R.call_tir(cls.exp_host, (a,), out_sinfo=R.Tensor((4,), dtype="float32", vdevice="llvm:0:global"))
            b_1: R.Tensor((4,), dtype="float32", vdevice="vulkan:0:global") = R.call_pure_packed("vm.builtin.to_device", b, sinfo_args=(R.Tensor((4,), dtype="float32", vdevice="vulkan:0:global"),))
            c_then: R.Tensor((4,), dtype="float32", vdevice="vulkan:0:global") = b_1
            c: R.Tensor((4,), dtype="float32", vdevice="vulkan:0:global") = c_then
        else:
            c_else = R.call_tir(cls.negative, (x,), out_sinfo=R.Tensor((4,), dtype="float32", vdevice="vulkan:0:global"))
            c: R.Tensor((4,), dtype="float32", vdevice="vulkan:0:global") = c_else
        return c

    @R.function
    def main(x: R.Tensor((4,), dtype="float32", vdevice="vulkan:0:global"), w: R.Tensor((4,), dtype="float32", vdevice="llvm:0:global")) -> R.Tensor((4,), dtype="float32", vdevice="vulkan:0:global"):
        cls = Module
        w_1: R.Tensor((4,), dtype="float32", vdevice="llvm:0:global") = R.call_pure_packed("vm.builtin.to_host", w, sinfo_args=(R.Tensor((4,), dtype="float32", vdevice="llvm:0:global"),))
        a = R.call_tir(cls.exp, (x,), out_sinfo=R.Tensor((4,), dtype="float32", vdevice="vulkan:0:global"))
        a_1: R.Tensor((4,), dtype="float32", vdevice="llvm:0:global") = R.call_pure_packed("vm.builtin.to_host", a, sinfo_args=(R.Tensor((4,), dtype="float32", vdevice="llvm:0:global"),))
        b: R.Tensor((4,), dtype="float32", vdevice="llvm:0:global") = a_1
        lv = R.call_tir(cls.exp_host, (b,), out_sinfo=R.Tensor((4,), dtype="float32", vdevice="llvm:0:global"))
        lv_1 = R.call_tir(cls.add_host, (b, w_1), out_sinfo=R.Tensor((4,), dtype="float32", vdevice="llvm:0:global"))
        c = R.call_tir(cls.multiply_host, (lv, lv_1), out_sinfo=R.Tensor((4,), dtype="float32", vdevice="llvm:0:global"))
        c_1: R.Tensor((4,), dtype="float32", vdevice="vulkan:0:global") = R.call_pure_packed("vm.builtin.to_device", c, sinfo_args=(R.Tensor((4,), dtype="float32", vdevice="vulkan:0:global"),))
        d: R.Tensor((4,), dtype="float32", vdevice="vulkan:0:global") = c_1
        lv_2 = R.call_tir(cls.negative, (d,), out_sinfo=R.Tensor((4,), dtype="float32", vdevice="vulkan:0:global"))
        lv_3 = R.call_tir(cls.exp, (d,), out_sinfo=R.Tensor((4,), dtype="float32", vdevice="vulkan:0:global"))
        e = R.call_tir(cls.add, (lv_2, lv_3), out_sinfo=R.Tensor((4,), dtype="float32", vdevice="vulkan:0:global"))
        return e
